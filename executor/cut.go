package executor

import (
	"context"
	"errors"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// errBefore is why an attempt was cut off that this process has not seen.
var errBefore = errors.New("the runtime was stopped in the middle of it")

// settleCut finds out what became of the newest attempt at j. It returns the
// job's end, or nil if another attempt is to be made, or errWaits if the agent could not
// be asked and j waits until it can. The turn is nil if this process has not seen it
// begin.
func (e *Executor) settleCut(c Session, j *job, t Turn, cause error) (*agent.Ended, error) {
	defer c.In(j.attempt.Thread)()
	found, err := e.find(c, j, t)
	known := toolKnown(j, t)
	log := e.log.With("job", j.ID, "attempt", j.attempt.N, "thread_id", j.attempt.Thread, "cause", cause)
	switch {
	case j.ctx.Err() != nil:
		return e.cutShort(j, t), nil
	case errors.Is(err, errWaits):
		j.Cut, j.seen = &Cut{Attempt: j.attempt.N, ThreadID: j.attempt.Thread, Tool: found.Tool || known}, t
		return nil, err
	case err != nil:
		log.Warn("what became of a turn that was cut off cannot be found out", "err", err)
		return interrupted(soFar(t), true, cutWords(cause)), nil
	}
	what, why := fateOf(found, past{tool: known, rerun: j.rerun, goesOn: j.goOn})
	log.Info("a turn was cut off", "fate", string(what), "why", why)
	switch what {
	case fateVanished:
		return e.vanished(j, t, log), nil
	case fateHeld:
		return nil, nil
	case fateAgain:
		j.rerun = true
		return nil, nil
	case fateDelivered:
		if t == nil {
			j.begun(found.Begun)
		}
		return found.End(e.order(j), t), nil
	default:
		tool := found.Tool || known || found.State != Broken
		log.Warn("a message is not run again, whose turn was cut off", "tool", tool, "why", why)
		words := cutWords(cause)
		if found.Left && found.State == Broken {
			words = cutOffAndLeft
		}
		return interrupted(found.SoFar, tool, words), nil
	}
}

// cutWords are what is said of a turn that may have run in part, by why it was cut off.
func cutWords(cause error) string {
	if trouble, ok := errors.AsType[*Trouble](cause); ok && trouble.Cut != "" {
		return trouble.Cut + cutOffElsewhere
	}
	return cutOffText
}

// toolKnown reports whether it was seen or noted that a tool of the newest attempt
// at j has started.
func toolKnown(j *job, t Turn) bool {
	return j.Cut != nil && j.Cut.Attempt == j.attempt.N && j.Cut.Tool || t != nil && t.SoFar().Tools
}

// find asks the driver what is known of the newest attempt at j, of which this process has seen t. An
// agent that dies over it is not the last one.
func (e *Executor) find(c Session, j *job, t Turn) (found Finding, err error) {
	for try := 1; ; try++ {
		found, err = c.LookUp(j.ctx, j.attempt, t)
		err = e.waitsFor(j, err)
		if err == nil || j.ctx.Err() != nil || !mayTry(try, err) {
			break
		}
		if !Unstarted.is(err) && !passing(j.ctx, err) {
			break
		}
	}
	return found, err
}

// cutShort is the end of a job that was canceled, or of a runtime that stops,
// before it was known what became of the attempt. After a stop the next process
// finds out, also whether a tool had started.
func (e *Executor) cutShort(j *job, t Turn) *agent.Ended {
	end := Stopped(soFar(t), context.Cause(j.ctx))
	end.Tools = end.Outcome == agent.Canceled && t != nil && t.HasWorked()
	return &end
}

// soFar is what this process has seen of a turn, which is nil for nothing.
func soFar(t Turn) agent.Ended {
	if t == nil {
		return agent.Ended{}
	}
	return t.SoFar()
}

// cutShortOr returns end, the end of a job that no attempt was made at, or that of its
// attempt which was cut off if the job was ended before it was known what became of that.
func (e *Executor) cutShortOr(j *job, end *agent.Ended) *agent.Ended {
	if j.seen == nil || j.ctx.Err() == nil {
		return end
	}
	return e.cutShort(j, j.seen)
}
