package executor

import (
	"errors"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// startTries bounds how often a message is offered to a codex that does not
// take it, and how often codex is asked what became of one that was cut off. A
// codex that is killed over it has not failed by itself, so that is borne more
// often; it is bounded, too, for the message may be why codex is killed.
const startTries, killedTries = 3, 12

// mayTry reports whether there is a try after the nth, which has failed.
func mayTry(n int, err error) bool {
	return n < startTries || n < killedTries && killed(err)
}

// attempts makes attempts at a job until one of them has an end, or the job has
// to wait: then it returns nil.
func (e *Executor) attempts(c *conversation, j *job) *agent.Ended {
	if j.Cut != nil {
		j.attempt = Attempt{Job: j.ID, N: j.Cut.Attempt, Conversation: c.key, Thread: j.Cut.ThreadID}
		if end, err := e.settleCut(c, j, j.seen, errBefore); end != nil || err != nil {
			return end
		}
		j.Cut, j.seen = nil, nil
		e.keepSteers(c, j)
	}
	for try := 1; ; try++ {
		end, err := e.attempt(c, j)
		if end != nil || errors.Is(err, errHeld) {
			return end
		}
		if err != nil && (!mayTry(try, err) || j.ctx.Err() != nil || !passing(j.ctx, err)) {
			end := e.beforeStart(causeOf(j.ctx, err))
			return &end
		}
	}
}

// attempt makes one attempt. It returns the job's end, or why the attempt was
// none: an error, or nothing if its turn is void and is to be run again.
func (e *Executor) attempt(c *conversation, j *job) (*agent.Ended, error) {
	if err := j.slot.regain(j.ctx); err != nil { // the one before was cut off while it waited for an answer
		return nil, err
	}
	t, err := e.start(c, j)
	if err == nil {
		defer t.giveBack()
		var end *agent.Ended
		if end, err = e.follow(j, t); end != nil {
			end, err = e.weigh(j, t, end)
			switch {
			case end == nil:
			case end.Outcome == agent.Failed:
				t.endAgents()
			case j.Peer: // other agents have any number of conversations
				t.endAgentsGently()
			}
			return end, err
		}
	}
	if !WasCut.is(err) {
		return nil, err
	}
	rerun := j.rerun
	end, held := e.settleCut(c, j, t, err)
	switch {
	case held != nil:
		return nil, held
	case end == nil && rerun == j.rerun: // it never ran
		return nil, err
	}
	return end, nil
}
