package tasks

import (
	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/feed"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/sizes"
)

// askedUntold stands in an event in the place of what is asked. A reader gets it all the same
// while that is open; see withQuestions.
const askedUntold = "What was asked here is not told again: the task has told so much of its questions. Ask for the task, which has all that are open."

// telling is the event of a state as it is kept: beyond the bound without what is asked.
func (t *state) telling(event *a2a.TaskStatusUpdateEvent) *a2a.TaskStatusUpdateEvent {
	posed := event.Status.Message
	if posed == nil || event.Status.State != a2a.TaskStateInputRequired {
		return event
	}
	var n sizes.Wire
	n.Message(posed)
	if t.retold.may(ofAsks, int(n)) {
		t.retold.count(ofAsks, int(n))
		return event
	}
	short := *event
	short.Status.Message = inShort(posed, askedUntold)
	return &short
}

// inShort is a message with a text in the place of what it says.
func inShort(m *a2a.Message, text string) *a2a.Message {
	short := *m
	short.Metadata, short.Parts = nil, a2a.ContentParts{a2a.NewTextPart(text)}
	return &short
}

// withQuestions is an event as a reader gets it: one that lacks what is asked has it as long as
// that is what is open. With latest it has what is open by now: no other follows for this reader.
func (t *identity) withQuestions(event *feed.Event, latest bool) *feed.Event {
	update, ok := event.Event.(*a2a.TaskStatusUpdateEvent)
	if !ok || !untold(update.Status.Message) {
		return event
	}
	status := t.feed.Face().Status
	if status.State != a2a.TaskStateInputRequired || status.Message == nil || !latest && status.Message.ID != update.Status.Message.ID {
		return event
	}
	return event.With(&a2a.TaskStatusUpdateEvent{TaskID: t.id, ContextID: t.contextID, Status: status, Metadata: update.Metadata})
}

func untold(m *a2a.Message) bool {
	return m != nil && len(m.Parts) == 1 && m.Parts[0].Text() == askedUntold
}
