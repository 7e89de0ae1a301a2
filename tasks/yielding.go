package tasks

import "context"

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
