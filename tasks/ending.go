package tasks

import (
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/progress"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/refusal"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/reply"
)

// An ending is how a turn ended, as far as the task's own end needs it.
type ending struct {
	state a2a.TaskState
	text  string         // of the final status; may be empty
	meta  map[string]any // what it adds to the task's metadata; nil values take away
}

// end ends the task the way its last turn did; change is what has its end with it.
func (t *state) end(change store.Change) {
	last := t.ending
	if t.canceling && t.canceled {
		last = &ending{state: a2a.TaskStateCanceled, meta: last.meta}
	}
	var message *a2a.Message
	if last.text != "" {
		message = t.message(a2a.NewTextPart(last.text))
	}
	t.note(last.meta)
	change.Drop = append(change.Drop, t.closeQuestions()...)
	t.endGiven(&change)
	t.replyLast()
	change.Notice = t.notice(last.state, message)
	t.enter(last.state, message, change)
	t.sync()
	close(t.over)
}

// ended refuses a message to a task that has ended.
func ended(id a2a.TaskID, state a2a.TaskState) error {
	return refusal.InState(a2a.ErrUnsupportedOperation, &a2a.Task{ID: id, Status: a2a.TaskStatus{State: state}},
		"task %q has ended (%s) and takes no more messages; send the message without a taskId, in the same context", id, state)
}

// endingOf says what the end of a turn would make of its task.
func endingOf(event agent.Ended, said *artifact) *ending {
	end := &ending{meta: map[string]any{keys.Failure: nil, keys.Reply: nil, keys.Held: nil}}
	if said != nil {
		end.meta[keys.Reply] = string(said.id)
	}
	switch event.Outcome {
	case agent.Completed:
		end.state = a2a.TaskStateCompleted
		if said == nil || strings.TrimSpace(said.text.String()) == "" { // else it stands in its artifact, and only there: readers show both
			end.text = reply.Empty
		}
		return end
	case agent.Canceled:
		end.state = a2a.TaskStateCanceled
		return end
	case agent.Interrupted:
		end.meta[keys.Interrupted] = true
	}
	end.state = a2a.TaskStateFailed
	if event.Outcome == agent.Rejected {
		end.state = a2a.TaskStateRejected
	}
	failure := event.Failure
	if failure == nil {
		failure = &agent.Failure{Kind: agent.FailModel, Message: "codex failed without saying why; send the message again"}
	}
	end.text = failure.Message
	end.meta[keys.Failure] = progress.Failure(failure)
	return end
}

// abandon ends a task that nothing is left to be done for, and that has no end: what there is of it
// cannot come from this program.
func (t *state) abandon() {
	t.ending = endingOf(agent.Ended{Outcome: agent.Interrupted, Failure: &agent.Failure{
		Kind: agent.FailUnreachable, Message: "the runtime was stopped in the middle of this task; send the message again if it is still needed",
	}}, nil)
	t.end(store.Change{})
}
