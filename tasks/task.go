package tasks

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// A task is a task that has not ended, or whose last readers have not.
type task struct {
	engine    *Engine
	id        a2a.TaskID
	contextID string
	thread    string        // the conversation that its turns run in
	over      chan struct{} // closed when the task has ended

	mu        sync.Mutex // guards the fields below
	status    a2a.TaskStatus
	history   []*a2a.Message // only ever appended to or replaced
	artifacts []*artifact
	meta      map[string]any // replaced, never changed
	cached    *a2a.Task      // the snapshot, or nil since something was published
	log       eventLog
	states    signal      // the state has changed
	runs      []*run      // the turns that have not ended, in their order
	turns     int         // messages that the task has taken in all
	questions []*question // open, the oldest first; the state says so
	messages  int         // status messages made
	canceling bool
	canceled  bool    // a turn ended by the cancel
	ending    *ending // of the last turn that ended, or nil
}

// An ending is how a turn ended, as far as the task's own end needs it.
type ending struct {
	state a2a.TaskState
	text  string         // of the final status; may be empty
	meta  map[string]any // what it adds to the task's metadata; nil values take away
}

func (e *Engine) newTask(id a2a.TaskID, contextID, thread string) *task {
	return &task{
		engine: e, id: id, contextID: contextID, thread: thread,
		over:   make(chan struct{}),
		status: a2a.TaskStatus{State: a2a.TaskStateSubmitted, Timestamp: now()},
		log:    newLog(),
	}
}

// now is the time as A2A wants to see it: in UTC, with three digits behind the
// second. Readers sort these as text, and JSON leaves out a zero at the end, so
// the last digit never is one.
func now() *time.Time {
	t := time.Now().UTC().Truncate(time.Millisecond)
	if t.Nanosecond()/int(time.Millisecond)%10 == 0 {
		t = t.Add(time.Millisecond)
	}
	return &t
}

// TaskInfo implements [a2a.TaskInfoProvider].
func (t *task) TaskInfo() a2a.TaskInfo {
	return a2a.TaskInfo{TaskID: t.id, ContextID: t.contextID}
}

// view opens the task for a reader.
func (t *task) view() *view {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.viewLocked()
}

func (t *task) viewLocked() *view {
	return &view{task: t.snapshot(), of: t, at: t.log.tail}
}

// peek returns the task as it is.
func (t *task) peek() *a2a.Task {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.snapshot()
}

// snapshot returns the fold of the log. The caller holds t.mu.
func (t *task) snapshot() *a2a.Task {
	if t.cached == nil {
		t.cached = &a2a.Task{
			ID: t.id, ContextID: t.contextID,
			Status: t.status, History: slices.Clip(t.history), Metadata: t.meta,
		}
		for _, a := range t.artifacts {
			if a.shown {
				t.cached.Artifacts = append(t.cached.Artifacts, a.snapshot())
			}
		}
		t.cached.Artifacts = slices.Clip(t.cached.Artifacts)
	}
	return t.cached
}

// publish appends an event to the log. The caller holds t.mu and has changed
// the task accordingly.
func (t *task) publish(event a2a.Event) {
	t.cached = nil
	t.log.append(event, t.status.State.Terminal())
}

// enter changes the state: it is committed, then published. The caller holds t.mu.
func (t *task) enter(state a2a.TaskState, message *a2a.Message) {
	t.status = a2a.TaskStatus{State: state, Timestamp: now(), Message: message}
	t.cached = nil
	if err := t.engine.cfg.Journal.Save(context.Background(), t.snapshot()); err != nil {
		t.engine.log.Error("a task could not be saved", "task_id", t.id, "state", state, "err", err)
	}
	t.publish(&a2a.TaskStatusUpdateEvent{
		TaskID: t.id, ContextID: t.contextID, Status: t.status, Metadata: t.meta,
	})
	t.states.fire()
}

// tell publishes progress, which changes nothing about the task. The caller
// holds t.mu.
func (t *task) tell(data map[string]any) {
	t.publish(&a2a.TaskStatusUpdateEvent{
		TaskID: t.id, ContextID: t.contextID,
		Status: a2a.TaskStatus{
			State: t.status.State, Timestamp: now(),
			Message: t.message(a2a.NewDataPart(data)),
		},
	})
}

// message makes a message of the agent's. The caller holds t.mu.
func (t *task) message(parts ...*a2a.Part) *a2a.Message {
	t.messages++
	m := a2a.NewMessageForTask(a2a.MessageRoleAgent, t, parts...)
	m.ID = fmt.Sprintf("%s-%d", t.id, t.messages)
	return m
}

// note adds to the metadata; a nil value takes its key away. The caller holds t.mu.
func (t *task) note(add map[string]any) {
	meta := maps.Clone(t.meta)
	if meta == nil {
		meta = map[string]any{}
	}
	for key, value := range add {
		if value == nil {
			delete(meta, key)
		} else {
			meta[key] = value
		}
	}
	t.meta, t.cached = meta, nil
}

// join makes a further turn of the task, still to be submitted. The first turn
// comes in here, too.
func (t *task) join(in *incoming) (*run, *a2a.Task, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.status.State.Terminal():
		return nil, nil, ended(t.id, t.status.State)
	case t.canceling:
		return nil, nil, refuse(a2a.ErrUnsupportedOperation, "task %q is being canceled and takes no more messages", t.id)
	}
	t.turns++
	r := &run{task: t, message: in.stored(t), jobID: t.attempt()}
	t.runs = append(t.runs, r)
	t.history = append(t.history, r.message)
	t.cached = nil
	return r, t.snapshot(), nil
}

// attempt identifies the newest message in its first attempt to be run. The
// caller holds t.mu.
func (t *task) attempt() string { return fmt.Sprintf("%s.%d.1", t.id, t.turns) }

// leave undoes a join whose message was not taken. before is called with the
// task as it is without the message, under its lock.
func (t *task) leave(r *run, before func(*a2a.Task)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.runs = slices.DeleteFunc(t.runs, func(other *run) bool { return other == r })
	t.history = slices.DeleteFunc(slices.Clone(t.history), func(m *a2a.Message) bool { return m == r.message })
	t.cached = nil
	before(t.snapshot())
	if len(t.runs) == 0 && t.ending != nil {
		t.end()
	}
}

// admit says that the runner has taken a turn, with how many ahead of it, and
// lets its events come in. It returns the view of whoever sent the message.
func (t *task) admit(r *run, ahead int) *view {
	t.mu.Lock()
	defer t.mu.Unlock()
	if ahead == 0 {
		t.note(map[string]any{MetaTurn: TurnStarted, MetaAhead: nil})
	} else {
		t.note(map[string]any{MetaTurn: TurnQueued, MetaAhead: ahead})
	}
	if t.turns > 1 {
		t.publish(&a2a.TaskStatusUpdateEvent{TaskID: t.id, ContextID: t.contextID, Status: t.status, Metadata: t.meta})
	}
	v := t.viewLocked()
	r.admit()
	return v
}

// end ends the task the way its last turn did. The caller holds t.mu.
func (t *task) end() {
	last := t.ending
	if t.canceling && t.canceled {
		last = &ending{state: a2a.TaskStateCanceled, meta: last.meta}
	}
	var message *a2a.Message
	if last.text != "" {
		message = t.message(a2a.NewTextPart(last.text))
	}
	t.note(last.meta)
	if len(t.questions) > 0 {
		t.history, t.questions = append(t.history, t.status.Message), nil
	}
	t.replyFirst()
	t.enter(last.state, message)
	t.engine.forget(t)
	close(t.over)
}

// ended refuses a message to a task that has ended.
func ended(id a2a.TaskID, state a2a.TaskState) error {
	return inState(a2a.ErrUnsupportedOperation, &a2a.Task{ID: id, Status: a2a.TaskStatus{State: state}},
		"task %q has ended (%s) and takes no more messages; send the message without a taskId, in the same context", id, state)
}

// stop silences the task for good: the engine has been closed before its turns
// ended.
func (t *task) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.runs {
		r.finish()
	}
}
