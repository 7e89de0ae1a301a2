package tasks

import (
	"sync"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// What a task tells again and again, beside its progress, stays in the journal likewise, and a start
// reads it. Each has a bound of its own for a task; all that all tasks have told so that have not
// ended has one, too, and other agents' tasks have a part of that.
const (
	mostTold      = 16 << 20
	mostToldOfAll = 8 * mostTold
	peersTold     = mostToldOfAll / 4
)

// A repeat is one of them.
type repeat int

const (
	ofAsks   repeat = iota // each event of a question has all that are open
	ofDiffs                // a diff is shown whole before each message that it has changed before
	ofDrafts               // of a message another text than what was streamed may be the last word
)

// A retold counts the bytes that a task has told of each, in this process: a start begins anew.
// The caller of its methods holds t.mu.
type retold struct {
	bytes [3]int
	peer  bool // the task's conversation is one with another agent
	all   *retoldOfAll
}

// may reports whether there is room for so many bytes more. What others have told leaves a task the
// first of each: they must not keep it from streaming.
func (r *retold) may(what repeat, bytes int) bool {
	had := r.bytes[what]
	return had+bytes <= mostTold && (had == 0 || r.all.may(r.peer, bytes))
}

func (r *retold) count(what repeat, bytes int) {
	r.bytes[what] += bytes
	r.all.change(r.peer, bytes)
}

// forget counts none of them any more: the task leaves memory.
func (r *retold) forget() {
	for what, bytes := range r.bytes {
		r.count(repeat(what), -bytes)
	}
}

// A retoldOfAll counts what those have told that have not ended.
type retoldOfAll struct {
	mu         sync.Mutex // guards the fields below
	all, peers int
}

func (a *retoldOfAll) change(peer bool, bytes int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all += bytes
	if peer {
		a.peers += bytes
	}
}

func (a *retoldOfAll) may(peer bool, bytes int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if peer {
		return a.peers+bytes <= peersTold && a.all+bytes <= mostToldOfAll
	}
	// What other agents' have beyond their share is not at the cost of the user's.
	return a.all-max(a.peers-peersTold, 0)+bytes <= mostToldOfAll
}

// askedUntold stands in an event in the place of what is asked. A reader gets it all the same
// while that is open; see withQuestions.
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
