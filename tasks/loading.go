package tasks

import (
	"context"
)

// A Loading bounds how many calls at once read from the journal what may be large, and is
// for their callers alone: a whole task, or the events that a stream has missed. It is
// that of one call, and used by its goroutine.
type Loading interface {
	// Begin waits until the call may read, unless it may already.
	Begin(ctx context.Context) error
	// End says that it does not read any more. The transport says so itself when what was
	// read is encoded.
	End()
}

type loadingKey struct{}

// WithLoading returns the context of a call that reads in its turn. Without one nothing is
// waited for.
func WithLoading(ctx context.Context, l Loading) context.Context {
	return context.WithValue(ctx, loadingKey{}, l)
}

func loadingOf(ctx context.Context) Loading {
	if l, ok := ctx.Value(loadingKey{}).(Loading); ok {
		return l
	}
	return unbounded{}
}

type unbounded struct{}

func (unbounded) Begin(context.Context) error { return nil }
func (unbounded) End()                        {}
