package platform

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/time/rate"
)

// ErrBusy is why something was not done that would have had to wait too long for its turn.
const ErrBusy busy = "too many calls of the platform at once; this one was not sent. Make fewer, one after the other"

type busy string

func (b busy) Error() string { return string(b) }

type turnsKey struct{}

// longestTurn is how long anything waits for its turn: what is waited for and given up is
// not given back to those behind it.
const longestTurn = 20 * time.Second

// InTurn returns a context whose requests wait for their turn, each attempt for one of its
// own: the platform counts the requests of an address, and those of a workspace's own life
// (heartbeats, its inbox, replies) must find room among them. One whose turn does not come
// soon fails with [ErrBusy], as [Await] does.
func InTurn(ctx context.Context, turns *rate.Limiter) context.Context {
	return context.WithValue(ctx, turnsKey{}, turns)
}

// Await waits for a turn. Where it would not come within 20 seconds, or before ctx ends, it
// fails at once with [ErrBusy]; where ctx ends meanwhile, with its cause.
func Await(ctx context.Context, turns *rate.Limiter) error {
	limited, cancel := context.WithTimeout(ctx, longestTurn)
	defer cancel()
	err := turns.Wait(limited)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return ErrBusy
}

// turn waits for the turn of a request.
func turn(ctx context.Context, op string) error {
	turns, ok := ctx.Value(turnsKey{}).(*rate.Limiter)
	if !ok {
		return nil
	}
	if err := Await(ctx, turns); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}
