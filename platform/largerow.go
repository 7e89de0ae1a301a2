package platform

import (
	"bytes"
	"context"
	"errors"
	"io"
)

// A row that is larger than one that is read whole is read all the same, without what makes it
// large: rows are read in their order, and one that is never got past would keep all behind it
// from being read. What a platform writes of a message may be six times as long as what it has
// taken, so senders can make such rows.

const (
	// mostMember is how many bytes of a member of such a row are kept.
	mostMember = 64 << 10
	// mostStream is how many bytes of it are looked through: more than any platform makes of
	// what it takes.
	mostStream = int64(1 << 30)
	// mostName is how long the name of a member may be that has a meaning.
	mostName = 256
)

var (
	errNoRow   = errors.New("no row stands where one is expected")
	errEndless = errors.New("it is larger than any row can be")
)

// shorten makes a page with the first row alone of one that has not come whole, or is too
// large for it: as it is, where all of it is in what was read, and else without what is too
// long of it, and says which members these are. Of a row that has no end, or is not at its end
// when the time is over, there is what has come, if that has its id.
func shorten(ctx context.Context, read []byte, rest io.Reader) (page []byte, cut []string, err error) {
	if whole := firstOf(read); whole != nil {
		return whole, nil, nil
	}
	s := newRowScanner(io.MultiReader(bytes.NewReader(read), rest))
	err = s.scan()
	over := errors.Is(err, errEndless) || err != nil && errors.Is(context.Cause(ctx), errSlow)
	if err != nil && (!over || !s.named()) {
		return nil, nil, err
	}
	page, cut = s.page(over)
	return page, cut, nil
}

// firstOf ends a page behind its first element; nil if that is not whole. The text is changed.
func firstOf(page []byte) []byte {
	open := 0
	for at, c := range signs(page) {
		switch c {
		case '[', '{':
			open++
		case ']', '}':
			open--
		}
		if open == 0 || open == 1 && c == ',' {
			page[at] = ']'
			return page[:at+1]
		}
	}
	return nil
}

// endless is a reader of whose bytes no more are read than are left.
type endless struct {
	in   io.Reader
	left int64
}

func (e *endless) Read(b []byte) (int, error) {
	if e.left <= 0 {
		return 0, errEndless
	}
	n, err := e.in.Read(b[:min(int64(len(b)), e.left)])
	e.left -= int64(n)
	return n, err
}
