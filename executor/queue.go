package executor

import (
	"context"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// serve runs the jobs of q, one at a time and in order, until none is left.
func (e *Executor) serve(q *queue) {
	c := e.driver.Open(q.key)
	for j := e.take(q, c); j != nil; j = e.take(q, c) {
		c.Next(j.Peer)
		end, taken := e.run(c, j)
		e.tellEnd(j, end)
		for _, s := range taken {
			e.finish(s, agent.Ended{Outcome: end.Outcome, Failure: end.Failure, Tools: end.Tools})
		}
		e.enter(j, stageGone)
	}
}

// AtRest waits for the rest of the end of a conversation's last job, which its observer was told
// of. It reports whether the conversation is not in use.
func (e *Executor) AtRest(ctx context.Context, key string) bool {
	e.mu.Lock()
	q := e.queues[key]
	ends := q != nil && len(q.jobs) == 0 && q.current != nil && (q.current.stage == stageTold || q.current.stage == stageGone)
	e.mu.Unlock()
	if q == nil || !ends {
		return q == nil
	}
	select {
	case <-q.idle:
		return true
	case <-ctx.Done():
		return false
	}
}

// take makes the first waiting job current, or ends the queue and lets go of its conversation.
func (e *Executor) take(q *queue, c Session) *job {
	e.mu.Lock()
	defer e.mu.Unlock()
	if q.current != nil { // one is done, the next becomes the head
		q.current = nil
		e.heads++
	}
	if len(q.jobs) == 0 {
		e.heads--
		delete(e.queues, q.key)
		c.Close()
		close(q.idle)
		return nil
	}
	q.current, q.jobs = q.jobs[0], q.jobs[1:]
	return q.current
}

// run brings one job to its end. What the model refuses meanwhile, for everybody, and
// starts of the agent that fail have it wait and begin anew. It also returns the messages
// that its last turn has taken.
func (e *Executor) run(c Session, j *job) (end agent.Ended, taken []*job) {
	for {
		if away := e.gate(j); away != nil {
			e.headLeft(j)
			c.Lock()
			defer c.Unlock()
			away = e.cutShortOr(j, away)
			return *away, e.endSteers(c, j, away)
		}
		if end, taken := e.serveOnce(c, j); end != nil {
			return *end, taken
		}
		e.waitsAgain(j)
	}
}

// serveOnce waits for a slot, then makes attempts at the job. It returns no end if
// the job has to wait.
func (e *Executor) serveOnce(c Session, j *job) (end *agent.Ended, taken []*job) {
	var err error
	j.slot, err = e.slots.take(j.ctx, j.Peer)
	e.headLeft(j)
	if err == nil {
		defer j.slot.release()
		if e.hold.look().cause != nil { // it was closed while the job waited for its slot
			return nil, nil
		}
		if e.mayBegin(j) {
			j.pause.leave(j.observe)
		} else {
			j.slot.release() // a turn that is answered meanwhile is to end yet
			<-j.ctx.Done()
			err = context.Cause(j.ctx)
		}
	}
	c.Lock()
	defer c.Unlock()
	if err == nil {
		err = c.Recall(j.ctx, j.Cut != nil, j.journalFull)
	}
	if err != nil {
		before := e.beforeStart(causeOf(j.ctx, err))
		end = e.cutShortOr(j, &before)
	} else if end = e.attempts(c, j); end == nil {
		return nil, nil
	}
	return end, e.endSteers(c, j, end)
}

// waitsAgain puts a job back among those that wait.
func (e *Executor) waitsAgain(j *job) {
	e.mu.Lock()
	e.heads++
	e.enterLocked(j, stageQueued) // it takes no messages until it runs again
	// Of an attempt that was not looked at it is not known yet what has arrived.
	if j.Cut == nil {
		e.sendAgainLocked(j)
	}
	e.mu.Unlock()
	j.pause.comeBack()
}

// headLeft counts the head of a queue that has got its slot, or given up.
func (e *Executor) headLeft(j *job) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heads--
	e.enterLocked(j, stageServed)
}
