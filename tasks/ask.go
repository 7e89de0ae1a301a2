package tasks

import (
	"fmt"
	"slices"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// ask poses a question, beside those that are open already.
func (r *run) ask(asked agent.Question) {
	t := r.task
	if t.retold.may(ofDrafts, 0) {
		r.pushRest()
	}
	q := &question{run: r, job: r.jobID, asked: asked, at: time.Now(), has: r.options, from: r.from, met: slices.Clone(r.met)}
	t.questions = append(t.questions, q)
	t.unread()
	r.request(q)
	t.pose(store.Change{Ask: []store.Question{q.row("")}})
	t.engine.askedAside(t.asideFrom(), q.from)
}

// pose brings the task into the state that the open questions make, and commits that with a change.
func (t *state) pose(change store.Change) {
	state, message := t.waiting()
	change.Durable = true
	t.enter(state, message, change)
}

// waiting is the state that the open questions make, and the message that poses them, the oldest first.
func (t *state) waiting() (a2a.TaskState, *a2a.Message) {
	if len(t.questions) == 0 {
		return a2a.TaskStateWorking, nil
	}
	var parts []*a2a.Part
	for i, q := range t.questions {
		text := q.text()
		switch {
		case i > 0:
			text = "\n\nTo be answered after that, or by its id:\n\n" + text
		case t.asideFrom() != "" && !t.ofPeer():
			text += "\n\n" + fmt.Sprintf(asideText, t.id, q.asked.ID)
		}
		parts = append(parts, a2a.NewTextPart(text))
		if data := q.data(); data != nil {
			parts = append(parts, a2a.NewDataPart(data))
		}
	}
	return a2a.TaskStateInputRequired, t.message(parts...)
}

// asideText stands behind what is asked aside of a conversation.
const asideText = "This is asked aside of the conversation: answer it in the console, or name the task (%s) or, in data, the question (%s) in the answer. Words that name neither go into the conversation."

// posed is the message that poses the open questions: the status, or while a turn behind a restart runs,
// what it is going to be after that.
func (t *state) posed() *a2a.Message {
	if t.status.State == a2a.TaskStateInputRequired && t.status.Message != nil {
		return t.status.Message
	}
	_, message := t.waiting()
	return message
}

// dropQuestions takes away the questions that gone says are open no more. What was posed stays in the
// history, and so does the note, if there is one: why that is so.
func (t *state) dropQuestions(note string, gone func(*question) bool) {
	t.closeGiven(note, gone)
	first := slices.IndexFunc(t.questions, gone)
	if first < 0 {
		return
	}
	t.words.gone.begin()
	var dropped []string
	t.questions = slices.DeleteFunc(slices.Clone(t.questions), func(q *question) bool {
		if !gone(q) {
			return false
		}
		dropped = append(dropped, q.asked.ID)
		return true
	})
	if first == 0 || note != "" {
		t.rememberPosed()
	}
	if note != "" {
		t.remember(t.message(a2a.NewTextPart(note)))
	}
	t.pose(store.Change{Drop: dropped})
	if note != "" {
		t.tell(map[string]any{"type": "notice", "text": note})
	}
}

// rememberPosed takes the message that poses the questions into the history.
func (t *state) rememberPosed() {
	if t.status.State == a2a.TaskStateInputRequired && t.status.Message != nil {
		posed, bytes := t.askedBefore(t.status.Message)
		t.remember(posed)
		t.countAsked(bytes)
	}
}

// closeQuestions takes away all questions of a task that ends, and returns their ids.
func (t *state) closeQuestions() (closed []string) {
	if len(t.questions) == 0 {
		return nil
	}
	t.rememberPosed()
	closed, t.questions = ids(t.questions), nil
	t.disarmExpiry()
	return closed
}

func (t *state) disarmExpiry() {
	if t.expiry != nil && t.expiry.Stop() {
		t.engine.wg.Done()
	}
	t.expiry = nil
}
