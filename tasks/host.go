package tasks

import (
	"slices"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// host returns the task that a message becomes part of which names none: the one that asks what its
// data name; else the one that has been waiting longest for an answer in its conversation; else, if so
// configured, the one whose turn runs there. Mostly there is none, and the message
// makes a task. What asks aside of the conversation is answered by its name alone: words there are
// for what the conversation itself has said.
func (e *Engine) host(in *incoming) *task {
	if in.press != nil {
		if t := e.live.find(a2a.TaskID(in.press.task)); t != nil && t.hasOpen(in.press.question) {
			return t
		}
		return nil
	}
	if in.key.Task != "" || !in.from.Answers() {
		return nil
	}
	conversation := e.conversation(in)
	if conversation == "" {
		return nil
	}
	var running, asking *task
	var since time.Time
	for _, t := range e.ofConversation(conversation) {
		asks, at := t.asks()
		switch {
		case asks && t.hasOpen(in.names()):
			return t
		case t.conversation != conversation:
		case asks && (asking == nil || at.Before(since)):
			asking, since = t, at
		case e.steers(in) && t.turning(nil, in.options) != "":
			running = t
		}
	}
	if asking != nil {
		return asking
	}
	return running
}

// hasOpen reports whether a question of that id is open in the task.
func (t *task) hasOpen(id any) bool {
	t.lock()
	defer t.unlock()
	return id != nil && slices.ContainsFunc(t.questions, func(q *question) bool { return q.asked.ID == id })
}

// asks reports whether the task waits for an answer of its sender, and since when it asks, however often
// that was posed again.
func (t *task) asks() (bool, time.Time) {
	t.lock()
	defer t.unlock()
	asks, at := t.status.State == a2a.TaskStateInputRequired && !t.canceling, statusTime(t.status)
	if asks && len(t.questions) > 0 {
		at = t.questions[0].at
	}
	return asks, at
}
