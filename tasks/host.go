package tasks

import (
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// host returns the task that a message becomes part of which names none: the one
// that has been waiting longest for an answer in its conversation; else, if so
// configured, the one whose turn runs there. Mostly there is none, and the message
// makes a task.
func (e *Engine) host(in *incoming) *task {
	if in.key.Task != "" || !in.from.answers() {
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
		case asks && (asking == nil || at.Before(since)):
			asking, since = t, at
		case e.steers(in) && t.thread == conversation && t.turning(nil, in.options) != "":
			running = t
		}
	}
	if asking != nil {
		return asking
	}
	return running
}

// ofConversation returns the tasks of a conversation that have not ended, also those that went aside.
func (e *Engine) ofConversation(conversation string) []*task {
	e.mu.Lock()
	defer e.mu.Unlock()
	var found []*task
	for _, t := range e.live {
		if t.isOf(conversation) {
			found = append(found, t)
		}
	}
	return found
}

// asks reports whether the task waits for an answer of its sender, and since when it asks, however often
// that was posed again.
func (t *task) asks() (bool, time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	asks, at := t.status.State == a2a.TaskStateInputRequired && !t.canceling, statusTime(t.status)
	if asks && len(t.questions) > 0 {
		at = t.questions[0].at
	}
	return asks, at
}
