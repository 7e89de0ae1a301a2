package platform

import (
	"context"
	"errors"
)

type onceKey struct{}

// Once returns a context whose calls are sent once and not repeated: their caller has a
// rhythm of its own.
func Once(ctx context.Context) context.Context { return context.WithValue(ctx, onceKey{}, true) }

// Undone reports whether a request that ended with err has certainly had no effect.
func Undone(err error) bool {
	if undone(err) {
		return true
	}
	refused, ok := errors.AsType[*Error](err)
	return ok && refused.Status < 500
}

// A TakenError says that the platform has taken a message, and that no reply came of it
// that is understood.
type TakenError struct{ Cause error }

func (e *TakenError) Error() string { return e.Cause.Error() }
func (e *TakenError) Unwrap() error { return e.Cause }
