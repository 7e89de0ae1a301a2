package platform

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/time/rate"
)

// ErrBusy is why a request was not made that would have had to wait too long for its turn.
const ErrBusy busy = "too many calls of the platform at once; nothing was sent. Make fewer, one after the other"

type busy string

func (b busy) Error() string { return string(b) }

type turnsKey struct{}

// longestTurn is how long a request waits for its turn: what is waited for and given up is
// not given back to those behind it.
const longestTurn = 20 * time.Second

// InTurn returns a context whose requests wait for their turn, each attempt for one of its
// own: the platform counts the requests of an address, and those of a workspace's own life
// (heartbeats, its inbox, replies) must find room among them. One that would have to wait
// for longer than 20 seconds fails at once, with [ErrBusy].
func InTurn(ctx context.Context, turns *rate.Limiter) context.Context {
	return context.WithValue(ctx, turnsKey{}, turns)
}

// turn waits for the turn of a request.
func turn(ctx context.Context, op string) error {
	turns, ok := ctx.Value(turnsKey{}).(*rate.Limiter)
	if !ok {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, longestTurn)
	defer cancel()
	err := turns.Wait(limited)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	}
	return fmt.Errorf("%s: %w", op, ErrBusy)
}
