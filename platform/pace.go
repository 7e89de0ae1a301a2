package platform

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"
)

// Why an answer is not waited for any longer.
var (
	errSilent = errors.New("the platform does not answer in time")
	errSlow   = errors.New("the platform's answer has come for so long, and is not whole yet")
)

// A pace is the time that a request has: in all, and, of one whose answer may be large and
// the link slow, for each piece of the answer. Without pieces a link would have to be as fast
// as the largest answer is large, and one that is slower would get it begun again for ever.
type pace struct {
	limit time.Duration
	timer *time.Timer // nil if the time in all counts alone
	left  int         // bytes of the piece that comes
}

// piece is as much as has to come in the time of one. A few bytes would do for a platform that
// drips to have an answer take all the time that there is.
const piece = freeAnswer

// paced returns a context that ends when the time of the request is over, and why stands in it.
func (r request) paced(ctx context.Context) (context.Context, *pace, func()) {
	limit := cmp.Or(r.limit, requestTimeout)
	if r.piece == 0 {
		ctx, end := context.WithTimeoutCause(ctx, limit, errSilent)
		return ctx, &pace{}, end
	}
	ctx, endAll := context.WithTimeoutCause(ctx, limit, errSlow)
	ctx, end := context.WithCancelCause(ctx)
	p := &pace{limit: r.piece, left: piece, timer: time.AfterFunc(r.piece, func() { end(errSilent) })}
	return ctx, p, func() {
		p.timer.Stop()
		end(nil)
		endAll()
	}
}

// of counts what is read of an answer.
func (p *pace) of(in io.Reader) io.Reader {
	if p.timer == nil {
		return in
	}
	return pacedReader{p, in}
}

type pacedReader struct {
	*pace
	in io.Reader
}

func (r pacedReader) Read(b []byte) (int, error) {
	n, err := r.in.Read(b)
	if r.left -= n; r.left <= 0 {
		r.left = piece
		r.timer.Reset(r.limit)
	}
	return n, err
}
