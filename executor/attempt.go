package executor

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// startTries bounds how often a message is offered to an agent that does not
// take it, and how often the agent is asked what became of one that was cut off. An
// agent that is killed over it has not failed by itself, so that is borne more
// often; it is bounded, too, for the message may be why the agent is killed.
const startTries, killedTries = 3, 12

// mayTry reports whether there is a try after the nth, which has failed.
func mayTry(n int, err error) bool {
	return n < startTries || n < killedTries && killed(err)
}

// attempts makes attempts at a job until one of them has an end, or the job has
// to wait: then it returns nil.
func (e *Executor) attempts(c Session, j *job) *agent.Ended {
	if j.Cut != nil {
		j.attempt = Attempt{Job: j.ID, N: j.Cut.Attempt, Conversation: j.Context, Thread: j.Cut.ThreadID}
		if end, err := e.settleCut(c, j, j.seen, errBefore); end != nil || err != nil {
			return end
		}
		j.Cut, j.seen = nil, nil
		e.keepSteers(c, j)
	}
	for try := 1; ; try++ {
		end, err := e.attempt(c, j)
		if end != nil || errors.Is(err, errWaits) {
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
func (e *Executor) attempt(c Session, j *job) (*agent.Ended, error) {
	if err := j.slot.regain(j.ctx); err != nil { // the one before was cut off while it waited for an answer
		return nil, err
	}
	t, giveBack, err := e.start(c, j)
	if err == nil {
		defer giveBack()
		var result *Result
		if result, err = e.follow(j, t); result != nil {
			end, err := e.weigh(j, t, result)
			if end != nil {
				t.Leave(end)
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

// start gets the conversation ready and begins an attempt in it. What was lent for it is given back
// when the attempt is over.
func (e *Executor) start(c Session, j *job) (t Turn, giveBack func(), err error) {
	thread, err := c.Prepare(j.ctx, j.Options)
	if err != nil {
		return nil, nil, e.waitsFor(j, err)
	}
	if err := e.begin(j, thread); err != nil {
		return nil, nil, err
	}
	input, giveBack, err := e.lend(j.ctx, j)
	if err == nil {
		of := e.order(j)
		of.Input, of.Trace = input, e.trace(j)
		t, err = c.Start(of)
	}
	if err != nil {
		giveBack()
		return nil, nil, err
	}
	return t, giveBack, nil
}

// trace is what the attempt at j that begins is part of.
func (e *Executor) trace(j *job) agent.TraceContext {
	if e.cfg.Trace == nil {
		return j.Trace
	}
	return e.cfg.Trace(j.Job, j.attempt.N)
}

// follow tells j of its turn until that has ended.
func (e *Executor) follow(j *job, t Turn) (*Result, error) {
	begun := t.Begun()
	defer e.openSteering(j, t, begun.Turn).close()
	j.begun(begun)
	return t.Follow()
}

// begun tells the observer that the agent has taken the job.
func (j *job) begun(as Begun) {
	cwd := cmp.Or(j.Options.Cwd, as.Cwd)
	if as.Machine != "" { // which has other folders
		cwd = as.Cwd
	}
	j.observe(agent.Started{
		ThreadID: as.Thread, TurnID: as.Turn, Model: cmp.Or(j.Options.Model, as.Model), Machine: as.Machine, Cwd: cwd, Attempt: j.attempt.N,
		Replaced: as.Fresh, Waited: time.Since(j.submitted),
	})
	for _, text := range as.Notices {
		j.observe(agent.Notice{Text: text})
	}
}

// causeOf prefers the reason why ctx ended to the error that its end caused.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}
