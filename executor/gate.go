package executor

import (
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// tellAll tells every waiting job how the hold stands.
func (e *Executor) tellAll() {
	e.mu.Lock()
	all := make([]*job, 0, len(e.jobs))
	for _, j := range e.jobs {
		all = append(all, j)
	}
	e.mu.Unlock()
	for _, j := range all {
		e.tell(j)
	}
}

// tell tells a waiting job how the hold stands. A job that is turned away ends,
// unless it is served: then it finds out by itself.
func (e *Executor) tell(j *job) {
	now := e.hold.look()
	if away := e.turnedAway(j, now); away != nil {
		if e.unqueue(j) {
			defer e.wg.Done()
			e.finish(j, *away)
		}
		return
	}
	j.pause.update(e.hold, j.observe)
}

// shortLimit is how long a job whose sender stands and waits is held by a limit
// that came after it.
const shortLimit = time.Minute

// turnedAway is the end of a job that does not wait for the end of a limit, or
// nil if it does.
func (e *Executor) turnedAway(j *job, now holdNow) *agent.Ended {
	switch {
	case now.cause == nil, now.cause.Kind != agent.FailLimit, now.deciding, j.Patient:
		return nil
	case j.submitted.Before(now.since) && time.Since(now.since) < shortLimit && time.Until(now.until) < shortLimit:
		return nil
	}
	return &agent.Ended{Outcome: agent.Failed, Failure: now.cause.Failure(false)}
}

// gate waits until the hold is open, and the job does not wait alone, or for room, or for the agent. It returns
// the end of a job that does not get that far.
func (e *Executor) gate(j *job) *agent.Ended {
	e.awaitAgent(j)
	if end := e.awaitRoom(j); end != nil {
		return end
	}
	if end := e.sitOut(j); end != nil {
		return end
	}
	for {
		now := e.hold.look()
		if now.cause == nil {
			return nil
		}
		if away := e.turnedAway(j, now); away != nil {
			return away
		}
		e.hold.news() // a job waits
		j.pause.update(e.hold, j.observe)
		select {
		case <-now.changed:
		case <-j.ctx.Done():
			end := e.beforeStart(causeOf(j.ctx, nil))
			return &end
		}
	}
}

// hasWaiting reports whether a job waits.
func (e *Executor) hasWaiting() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.waiting > 0
}
