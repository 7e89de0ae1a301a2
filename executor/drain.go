package executor

import "context"

// A drain keeps jobs from beginning once the runtime is about to end: what is begun then
// would only be cut off. Its fields are guarded by Executor.mu.
type drain struct {
	on    bool
	begun int           // jobs that are waited for, see [stage.drains]
	none  chan struct{} // closed when there are none, once it is on
	over  bool          // it is closed
}

// Drain has no more jobs begin, and waits until those that have begun are told of their
// ends, or until ctx ends. What waits then does so until [Executor.Close].
func (e *Executor) Drain(ctx context.Context) error {
	e.mu.Lock()
	if !e.drain.on {
		e.drain.on, e.drain.none = true, make(chan struct{})
		e.drain.countLocked(0)
	}
	none := e.drain.none
	e.mu.Unlock()
	select {
	case <-none:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// mayBegin reports whether a job may begin, and has it do so.
func (e *Executor) mayBegin(j *job) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.drain.on || e.closed { // a close reaches one job after the other
		return false
	}
	e.enterLocked(j, stageBegun)
	return true
}

// countLocked counts jobs that are waited for, or are no more.
func (d *drain) countLocked(by int) {
	d.begun += by
	if d.on && d.begun == 0 && !d.over {
		d.over = true
		close(d.none)
	}
}
