package executor

import "context"

// A drain keeps jobs from beginning once the runtime is about to end: what is begun then
// would only be cut off. Its fields are guarded by Executor.mu.
type drain struct {
	on    bool
	begun int           // jobs that have begun, and have not ended or gone back to wait
	none  chan struct{} // closed when there are none, once it is on
}

// Drain has no more jobs begin, and waits until those that have begun are told of their
// ends, or until ctx ends. What waits then does so until [Executor.Close].
func (e *Executor) Drain(ctx context.Context) error {
	e.mu.Lock()
	if !e.drain.on {
		e.drain.on, e.drain.none = true, make(chan struct{})
		e.drainedLocked()
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

// mayBegin reports whether a job may begin, and counts it.
func (e *Executor) mayBegin(j *job) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.drain.on {
		return false
	}
	j.drains = true
	e.drain.begun++
	return true
}

// noneOfLocked counts a job that has ended, or waits again.
func (e *Executor) noneOfLocked(j *job) {
	if j.drains {
		j.drains = false
		e.drain.begun--
		e.drainedLocked()
	}
}

func (e *Executor) drainedLocked() {
	if e.drain.on && e.drain.begun == 0 {
		close(e.drain.none)
	}
}
