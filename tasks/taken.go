package tasks

import "context"

type takenKey struct{}

// OnTaken returns the context of a call that sends a message. F is called when the engine
// has taken the message or refused it: what is in its request is not held by the call any
// more, for however long its sender waits.
func OnTaken(ctx context.Context, f func()) context.Context {
	return context.WithValue(ctx, takenKey{}, f)
}

func taken(ctx context.Context) {
	if f, ok := ctx.Value(takenKey{}).(func()); ok {
		f()
	}
}
