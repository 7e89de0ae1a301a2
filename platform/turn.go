package platform

import (
	"context"
	"fmt"

	"golang.org/x/time/rate"
)

// ErrBusy is why a request was not made that would have had to wait too long for its turn.
const ErrBusy busy = "too many calls of the platform at once; nothing was sent. Make fewer, one after the other"

type busy string

func (b busy) Error() string { return string(b) }

type turnsKey struct{}

// InTurn returns a context whose requests wait for their turn, each attempt for one of its
// own: the platform counts the requests of an address, and those of a workspace's own life
// (heartbeats, its inbox, replies) must find room among them. One that would have to wait
// longer than the context lasts fails at once, with [ErrBusy].
func InTurn(ctx context.Context, turns *rate.Limiter) context.Context {
	return context.WithValue(ctx, turnsKey{}, turns)
}

// turn waits for the turn of a request.
func turn(ctx context.Context, op string) error {
	turns, ok := ctx.Value(turnsKey{}).(*rate.Limiter)
	if !ok {
		return nil
	}
	err := turns.Wait(ctx)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	}
	return fmt.Errorf("%s: %w", op, ErrBusy)
}
