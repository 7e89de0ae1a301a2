package tasks

import "github.com/a2aproject/a2a-go/v2/a2a"

// mostTold bounds what a task tells again and again, beside its progress, for that stays in the
// journal likewise: each event of a question has all that are open, a diff is shown whole before
// each message that it has changed before, and of a message another text than what was streamed
// may be the last word. It holds for each of the three, and that of all for what all tasks have
// told so that have not ended: a start reads it.
const (
	mostTold      = 16 << 20
	mostToldOfAll = 8 * mostTold
)

// mayTell reports whether there is room for so many bytes more of one of the three. The caller holds
// t.mu.
func (t *task) mayTell(told *int, bytes int) bool {
	return *told+bytes <= mostTold && int(t.engine.told.Load())+bytes <= mostToldOfAll
}

// countTold counts them. The caller holds t.mu.
func (t *task) countTold(told *int, bytes int) {
	*told += bytes
	t.engine.told.Add(int64(bytes))
}

// forgetTold counts none of them any more: the task leaves memory. The caller holds t.mu.
func (t *task) forgetTold() {
	t.engine.told.Add(-int64(t.asksTold + t.diffsTold + t.draftsTold))
	t.asksTold, t.diffsTold, t.draftsTold = 0, 0, 0
}

// askedUntold stands in an event in the place of what is asked. Who reads it while that is open
// gets it all the same; see withQuestions.
const askedUntold = "What was asked here is not told again: the task has told so much of its questions. Ask for the task, which has all that are open."

// telling is the event of a state as it is kept: beyond the bound without what is asked. The
// caller holds t.mu.
func (t *task) telling(event *a2a.TaskStatusUpdateEvent) *a2a.TaskStatusUpdateEvent {
	posed := event.Status.Message
	if posed == nil || event.Status.State != a2a.TaskStateInputRequired {
		return event
	}
	var n wireCount
	n.message(posed)
	if t.mayTell(&t.asksTold, int(n)) {
		t.countTold(&t.asksTold, int(n))
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
func (t *task) withQuestions(event *Event, latest bool) *Event {
	update, ok := event.Event.(*a2a.TaskStatusUpdateEvent)
	if !ok || !untold(update.Status.Message) {
		return event
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.status.State != a2a.TaskStateInputRequired || t.status.Message == nil || !latest && t.status.Message.ID != update.Status.Message.ID {
		return event
	}
	return event.With(&a2a.TaskStatusUpdateEvent{TaskID: t.id, ContextID: t.contextID, Status: t.status, Metadata: update.Metadata})
}

func untold(m *a2a.Message) bool {
	return m != nil && len(m.Parts) == 1 && m.Parts[0].Text() == askedUntold
}
