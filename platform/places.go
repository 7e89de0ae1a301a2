package platform

import (
	"bytes"
	"context"
	"io"
)

const (
	// freeAnswer is how large an answer may be that waits for no place.
	freeAnswer = 64 << 10
	// mostLarge is how many that are larger are read and decoded at once.
	mostLarge = 2
)

// Places are those for answers that are large, so that the memory of several at once does
// not add up without end.
type places chan struct{}

// read reads an answer, for which it waits for a place if it is large. The place is held
// until it is left: what is decoded takes memory, too.
func (p places) read(ctx context.Context, in io.Reader) (answer []byte, leave func(), err error) {
	leave = func() {}
	head, err := io.ReadAll(io.LimitReader(in, freeAnswer))
	if err != nil || len(head) < freeAnswer {
		return head, leave, err
	}
	select {
	case p <- struct{}{}:
		leave = func() { <-p }
	case <-ctx.Done():
		return nil, leave, context.Cause(ctx)
	}
	answer, err = io.ReadAll(io.MultiReader(bytes.NewReader(head), in))
	return answer, leave, err
}
