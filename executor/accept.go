package executor

import (
	"context"
	"fmt"
	"time"
)

// mayAcceptLocked refuses a job for which there is no room; q may be nil.
func (e *Executor) mayAcceptLocked(j *Job, q *queue) error {
	queued := 0
	if q != nil {
		queued = len(q.jobs)
		if q.current != nil {
			for _, s := range q.current.steers {
				if s.stage.waits() {
					queued++
				}
			}
		}
	}
	switch {
	case e.closed:
		return ErrClosed
	case e.jobs[j.ID] != nil:
		return fmt.Errorf("%w: %q", ErrDuplicate, j.ID)
	case !j.Accepted && queued >= e.cfg.MaxQueue:
		return fmt.Errorf("%w: %d in this context, which is the most (RUNTIME_MAX_QUEUE)", ErrQueueFull, queued)
	case !j.Accepted && e.waiting >= e.cfg.MaxWaiting:
		return fmt.Errorf("%w: %d over all contexts, which is the most there may be", ErrQueueFull, e.waiting)
	case !j.Accepted:
		return e.budget.refuses(j)
	}
	return nil
}

// Refuses says why a job would not be accepted now, as [Executor.Submit] would: nil if it
// would be. It is for those who want to know before they keep the job's message.
func (e *Executor) Refuses(j Job) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.mayAcceptLocked(&j, e.queues[j.Context])
}

// acceptLocked makes a job of a Job.
func (e *Executor) acceptLocked(j Job, observe Observer) *job {
	ctx, cancel := context.WithCancelCause(e.root)
	e.accepted++
	accepted := &job{
		Job: j, observe: observe, submitted: time.Now(), seq: e.accepted, ctx: ctx, cancel: cancel, done: make(chan struct{}),
		pause: pauseTold{peer: j.Peer},
	}
	e.jobs[j.ID] = accepted
	e.budget.add(&j)
	return accepted
}
