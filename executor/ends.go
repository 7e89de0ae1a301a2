package executor

import (
	"errors"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

const (
	// cutOffText says that a turn may have run in part.
	cutOffText = "codex stopped in the middle of this turn; it is being restarted and the conversation is kept. " +
		"Look at what was done so far; the message runs again if it is sent again with metadata.retry=true"
	// cutOffAndLeft is what is said of one whose thread the agent does not load any more.
	cutOffAndLeft = "codex stopped in the middle of this turn, and the conversation goes on without its history, which the present model provider cannot have. " +
		"Look at what was done so far; the message runs again if it is sent again with metadata.retry=true"
	// cutOffElsewhere follows the words of the driver for what else has stopped.
	cutOffElsewhere = ". Look at what was done so far; the message runs again if it is sent again with metadata.retry=true"
	// NotTaken is what the sender of a message reads that could not be made a turn for a reason that has
	// no words for people.
	NotTaken = "codex could not take the message; the log says why"
)

// Stopped fills in the end of a job by why it, or its turn, was ended.
func Stopped(end agent.Ended, cause error) agent.Ended {
	if late, ok := errors.AsType[*Timeout](cause); ok {
		end.Outcome, end.Failure = agent.Failed, late.failure()
		return end
	}
	if errors.Is(cause, ErrShutdown) {
		end.Outcome = agent.Interrupted
		end.Failure = &agent.Failure{Kind: agent.FailShutdown, Message: "the runtime was stopped before this message was answered; send it again"}
		return end
	}
	end.Outcome = agent.Canceled
	return end
}

// beforeStart is the end of a job that never became a turn.
func (e *Executor) beforeStart(err error) agent.Ended {
	if errors.Is(err, ErrCanceled) || errors.Is(err, ErrShutdown) {
		return Stopped(agent.Ended{}, err)
	}
	e.log.Warn("a turn could not be started", "err", err)
	if trouble, ok := errors.AsType[*Trouble](err); ok {
		return trouble.End
	}
	return agent.Ended{Outcome: agent.Failed, Failure: &agent.Failure{Kind: agent.FailUnreachable, Message: NotTaken}}
}

// interrupted is the end of a turn that may have run in part, with what it has shown.
func interrupted(end agent.Ended, tools bool, words string) *agent.Ended {
	end.Outcome, end.Tools = agent.Interrupted, tools
	end.Failure = &agent.Failure{Kind: agent.FailUnreachable, Message: words}
	return &end
}

// finish tells the observer the end of j, and lets it go. The caller is the one that took j
// out of its queue, so there is only one.
func (e *Executor) finish(j *job, end agent.Ended) {
	e.tellEnd(j, end)
	e.enter(j, stageGone)
}

// tellEnd is finish for a job in whose turn there are messages of others, which are to be told after it.
func (e *Executor) tellEnd(j *job, end agent.Ended) {
	j.pause.leave(nil)
	e.mu.Lock()
	e.enterLocked(j, stageTold)
	e.budget.remove(&j.Job) // who hears of the end has room for the next
	e.mu.Unlock()
	j.observe(end)
	j.cancel(nil)
	e.mu.Lock()
	delete(e.jobs, j.ID)
	e.mu.Unlock()
	close(j.done)
}
