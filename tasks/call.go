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

type yieldingKey struct{}

// OnYielding returns the context of a call. F is called when the call only waits from then
// on, and is another agent's or may be one: for the files of an agent's message, and for its
// end, which may be the same one sent a thousand times, or in a workspace for the news or the
// end of any task. Such a call costs no place in the queue. Who made it can come again, and
// the task goes on without him.
func OnYielding(ctx context.Context, f func()) context.Context {
	return context.WithValue(ctx, yieldingKey{}, f)
}

func yielding(ctx context.Context) {
	if f, ok := ctx.Value(yieldingKey{}).(func()); ok {
		f()
	}
}

// yield is called when the sender of a message begins to wait for what becomes of it.
func (v *view) yield(ctx context.Context) {
	if v.of != nil && v.of.ofPeer() {
		yielding(ctx)
	}
}

// yield is called when the caller begins to wait for what becomes of a task: in a workspace a
// request for that does not say whose it is.
func (e *Engine) yield(ctx context.Context) {
	if e.cfg.Workspace != nil {
		yielding(ctx)
	}
}

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
