package executor

import (
	"errors"
	"fmt"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// While the agent cannot be started, a message has its failure at once if its sender stands
// and waits. Another one keeps its place: it gives its slot back and waits at the gate,
// before it is looked at what became of an attempt that was cut off, until the agent is there
// or starts have failed for [Config.StartWait]. The agent may be replaced by another version,
// or its disk be mounted late.

// waitsFor returns an error that an attempt at a job has met, or errWaits if the job waits for room, or for the
// agent, which could not be started. A message that was handed to the turn of another job has no slot: it waits
// with that job only.
func (e *Executor) waitsFor(j *job, err error) error {
	if e.findsNoRoom(j, err) {
		return errWaits
	}
	trouble := e.outlasts(j, err)
	if j.slot == nil || trouble == nil {
		return err
	}
	e.log.Info("a message waits for codex, which could not be started", "job", j.ID)
	j.unstarted = err
	j.observe(agent.Notice{Text: fmt.Sprintf("%s. This message keeps its place and waits: the start is tried again by itself, until it has failed for %v",
		trouble.End.Failure.Message, e.cfg.StartWait)})
	return errWaits
}

// outlasts returns the trouble of which err is, if j waits because of it; else nil.
func (e *Executor) outlasts(j *job, err error) *Trouble {
	if trouble, ok := errors.AsType[*Trouble](err); ok && trouble.Kind == Unstarted && j.Patient && trouble.Failing < e.cfg.StartWait && j.ctx.Err() == nil {
		return trouble
	}
	return nil
}

// awaitAgent waits for the agent if j has found none. Where that takes too long, the next
// attempt has the failure.
func (e *Executor) awaitAgent(j *job) {
	err := j.unstarted
	j.unstarted = nil
	for kills := 0; e.outlasts(j, err) != nil; {
		if killed(err) {
			kills++
		} else {
			kills = 0
		}
		if kills == 0 || !mayTry(kills, err) { // as it ends a job that waits behind no other
			e.turnAwayBehind(j, err)
		}
		err = e.driver.Ready(j.ctx)
	}
}

// turnAwayBehind ends the jobs behind j whose senders stand and wait for an answer.
func (e *Executor) turnAwayBehind(j *job, err error) {
	e.mu.Lock()
	var behind []*job
	for _, other := range e.queues[j.Context].jobs {
		if !other.Patient {
			behind = append(behind, other)
		}
	}
	e.mu.Unlock()
	for _, other := range behind {
		if e.unqueue(other) {
			e.finish(other, e.beforeStart(err))
			e.wg.Done()
		}
	}
}
