package platform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// read reads the answer to a request, which must be left when it is decoded.
func (c *Client) read(ctx context.Context, r request, res *http.Response, in io.Reader) (answer []byte, leave func(), err error) {
	most := cmp.Or(r.most, mostAnswer)
	answer, leave, err = c.large.read(ctx, io.LimitReader(in, most+1))
	long, slow := int64(len(answer)) > most, err != nil && errors.Is(context.Cause(ctx), errSlow)
	switch {
	case r.alone != nil && (long || slow) && !isHTML(res.Header, answer):
		answer, *r.alone, err = shorten(ctx, answer, &endless{in, mostStream - int64(len(answer))})
		return answer, leave, unread(ctx, r.op, err)
	case err != nil && r.alone == nil && r.piece > 0 && len(answer) > piece && late(ctx):
		return nil, leave, fmt.Errorf("%s: %w to come in time", r.op, ErrTooMuch)
	case err != nil:
		return nil, leave, unread(ctx, r.op, err)
	case long:
		return nil, leave, fmt.Errorf("%s: %w: more than %d MiB", r.op, ErrTooMuch, most>>20)
	case isHTML(res.Header, answer):
		return nil, leave, &transportError{op: r.op, cause: errors.New("a page of HTML stands where the platform's answer is expected, and is not understood")}
	}
	return answer, leave, nil
}

// late reports whether the time of a request is over.
func late(ctx context.Context) bool {
	cause := context.Cause(ctx)
	return errors.Is(cause, errSilent) || errors.Is(cause, errSlow)
}

// unread makes an error of an answer that could not be read to its end.
func unread(ctx context.Context, op string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errNoRow):
		return &answerError{fmt.Errorf("%s: the platform's answer is not understood: %w", op, err)}
	case errors.Is(err, errEndless):
		return fmt.Errorf("%s: %w: %w", op, ErrTooMuch, err)
	case context.Cause(ctx) != nil:
		err = context.Cause(ctx)
	}
	return &transportError{op: op, cause: fmt.Errorf("the platform's answer is cut off: %w", err)}
}
