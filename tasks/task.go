package tasks

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/codec"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/feed"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/refusal"
)

// A task is a task that has not ended, or whose last readers have not.
type task struct {
	engine       *Engine
	id           a2a.TaskID
	contextID    string
	conversation string        // that its turns run in
	class        store.Class   // what it is kept among if no turn is made of it
	over         chan struct{} // closed when the task has ended
	waiters      atomic.Int32  // callers who wait for its reply; one can move on to another task
	headWaits    atomic.Bool   // a state that is shown has not been committed yet

	mu         sync.Mutex // guards the fields below
	status     a2a.TaskStatus
	history    []*a2a.Message // only ever appended to or replaced
	artifacts  []*artifact
	names      names          // of the artifacts
	texts      int            // bytes of theirs; see countedText
	counted    bool           // they count among those of all tasks
	meta       map[string]any // replaced, never changed
	cached     *a2a.Task      // the snapshot, or nil since something was published
	epoch      int
	feed       *feed.Feed // what readers see
	unseen     bool       // something was changed since the feed was given it
	reordered  bool       // so was the order of the artifacts
	rec        recorder
	runs       []*run        // the turns that have not ended, in their order
	turns      int           // messages that the task has taken in all
	past       int           // about the bytes of those whose turns have ended, and of their answers
	answers    int           // about the bytes of those that were answers; see roomForAnswer
	asked      int           // about the bytes of questions that are open no more
	reposed    int           // about the bytes of questions that were posed again
	questions  []*question   // open, the oldest first; the state says so
	words      words         // that answer
	given      []*given      // whose effect is not known yet; replaced, never changed
	messages   int           // status messages made
	progressed int           // bytes of progress told
	noticed    int           // and of notices
	retold     retold        // bytes told again and again
	pushes     []receiver    // of push notifications; replaced, never changed
	cutOff     []string      // recovered jobs whose turns have asked; until the task is posed again
	carried    []string      // ids of the questions that those had answered; until then
	expiry     *time.Timer   // of the questions over a restart; counted in Engine.wg while it runs
	told       a2a.TaskState // the state that receivers of push notifications know
	owed       bool          // the user gets the reply, however late
	promised   bool          // to the user, while a turn that another may have begun runs
	sorted     bool          // its messages were kept by who sent them
	canceling  bool
	canceled   bool    // a turn ended by the cancel
	ending     *ending // of the last turn that ended, or nil
}

// An ending is how a turn ended, as far as the task's own end needs it.
type ending struct {
	state a2a.TaskState
	text  string         // of the final status; may be empty
	meta  map[string]any // what it adds to the task's metadata; nil values take away
}

func (e *Engine) newTask(id a2a.TaskID, contextID, conversation string) *task {
	t := &task{
		engine: e, id: id, contextID: contextID, conversation: conversation,
		over:   make(chan struct{}),
		status: a2a.TaskStatus{State: a2a.TaskStateSubmitted, Timestamp: now()},
		sorted: true,
		epoch:  1,
		rec:    recorder{epoch: 1}, // the journal gives it to a task that it accepts
	}
	t.feed = feed.New(t.TaskInfo(), feed.Cursor{Epoch: 1}, t.face())
	t.retold = retold{peer: t.ofPeer(), all: &e.retold}
	return t
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

// lock is taken for each change of the task, and held while that is committed. Readers do not take it:
// what they see is in the feed.
func (t *task) lock() { t.mu.Lock() }

// unlock shows what was changed under the lock.
func (t *task) unlock() {
	t.sync()
	t.mu.Unlock()
}

// touch notes a change. The caller holds t.mu.
func (t *task) touch() { t.cached, t.unseen = nil, true }

// sync shows what was changed, and is of no event. The caller holds t.mu.
func (t *task) sync() {
	if t.unseen {
		t.feed.Sync(t.face(), t.order())
		t.unseen = false
	}
}

// face is what is shown of the task beside its artifacts. The caller holds t.mu.
func (t *task) face() feed.Face {
	return feed.Face{Status: t.status, History: t.history, Meta: t.meta}
}

// order is that of the artifacts, nil if it is as it was when it was asked for last. The caller holds t.mu.
func (t *task) order() []*feed.Artifact {
	if !t.reordered {
		return nil
	}
	t.reordered = false
	order := make([]*feed.Artifact, len(t.artifacts))
	for i, a := range t.artifacts {
		order[i] = a.shownAs
	}
	return order
}

// view opens the task for a reader.
func (t *task) view() *view {
	v := &view{info: t.TaskInfo(), of: t}
	v.task = t.feed.View(&v.at)
	return v
}

// viewLocked is view with what the caller has changed.
func (t *task) viewLocked() *view {
	t.sync()
	return t.view()
}

// peek returns the task as it is.
func (t *task) peek() *a2a.Task { return t.feed.Task() }

// snapshot returns the task as the caller has made it: it may not be shown yet. The caller holds t.mu.
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

// enter changes the state: it is committed, then published. The caller holds t.mu.
func (t *task) enter(state a2a.TaskState, message *a2a.Message, change store.Change) {
	before := t.status.State
	t.status = a2a.TaskStatus{State: state, Timestamp: now(), Message: message}
	t.touch()
	t.owe(before)
	t.announce(change)
}

// announce commits the state that t.status is set to, and publishes it. The
// caller holds t.mu.
func (t *task) announce(change store.Change) {
	event := &a2a.TaskStatusUpdateEvent{
		TaskID: t.id, ContextID: t.contextID, Status: t.status, Metadata: t.meta,
	}
	t.notifyState(event)
	row := t.row()
	change.Head = &row
	t.commit(change, t.telling(event))
	t.changed()
}

// working says that a turn has begun. It is committed a little later than it is
// shown: codex is at work from here on, and on a small machine waits for whatever
// else runs. That the attempt was begun is in the journal already. What receivers
// of push notifications are told is committed first, as always. The caller holds t.mu.
func (t *task) working(turn store.Turn) {
	if len(t.pushes) > 0 {
		t.enter(a2a.TaskStateWorking, nil, store.Change{Turn: &turn})
		return
	}
	t.status = a2a.TaskStatus{State: a2a.TaskStateWorking, Timestamp: now()}
	t.told = t.status.State
	t.rec.head = true
	t.headWaits.Store(true)
	t.rec.know(&turn)
	event := &a2a.TaskStatusUpdateEvent{TaskID: t.id, ContextID: t.contextID, Status: t.status, Metadata: t.meta}
	t.collect(event)
	t.show(event, nil)
	t.changed()
	t.armSave(stateTime)
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
	t.meta = meta
	t.touch()
}

// join commits a message as a further turn of the task, still to be submitted.
// The first turn comes in here, too. A message that is known is [store.ErrExists].
func (t *task) join(in *incoming, commit func(store.Message, store.Head) error) (*run, error) {
	t.lock()
	defer t.unlock()
	switch {
	case t.status.State.Terminal():
		return nil, ended(t.id, t.status.State)
	case t.canceling:
		return nil, refusal.New(a2a.ErrUnsupportedOperation, "task %q is being canceled and takes no more messages", t.id)
	}
	if err := t.roomForMore(in); err != nil {
		return nil, err
	}
	entry, err := t.entry(in)
	if err != nil {
		return nil, err
	}
	t.turns++
	t.owed = t.owed || in.receipt != nil
	meta := t.meta
	t.noteTarget(in.notify)
	r := &run{task: t, message: in.stored(t), from: in.from, jobID: t.newJob(), answers: in.answers, options: in.options, weight: in.weight(), refused: in.refused}
	if err := commit(entry(r.message, r.jobID), t.row()); err != nil {
		t.turns--
		t.meta = meta
		t.touch()
		if errors.Is(err, store.ErrExists) {
			return nil, err
		}
		return nil, t.engine.journalError("store the message", err)
	}
	t.expect(in.receipt)
	t.adopt(in.push)
	r.before = meta[keys.Notification]
	if t.turns > 1 {
		r.goesOn()
	}
	t.runs = append(t.runs, r)
	t.history = append(t.history, r.message)
	t.touch()
	return r, nil
}

// entry makes what the journal keeps of a message, once its job is known.
func (t *task) entry(in *incoming) (func(stored *a2a.Message, job string) store.Message, error) {
	pushed, err := t.pushRow(in.push)
	if err != nil {
		return nil, err
	}
	return func(stored *a2a.Message, job string) store.Message {
		return store.Message{
			Key: in.key, Digest: in.digest, TaskID: string(t.id), Job: job, Conversation: t.conversation, Body: codec.Encode(keptMessage{*stored, &in.from}), Push: pushed,
			Files: in.uses(),
		}
	}, nil
}

// newJob identifies the newest message. The caller holds t.mu.
func (t *task) newJob() string { return fmt.Sprintf("%s.%d", t.id, t.turns) }

// leave undoes a join whose message was not taken. withdraw is called with the
// task as it is without the message, under its lock.
func (t *task) leave(r *run, withdraw func(store.Head) error) {
	t.lock()
	defer t.unlock()
	t.turns-- // it is the newest: the next message has its number
	r.isBehind()
	t.runs = slices.DeleteFunc(t.runs, func(other *run) bool { return other == r })
	t.history = slices.DeleteFunc(slices.Clone(t.history), func(m *a2a.Message) bool { return m == r.message })
	t.note(map[string]any{keys.Notification: r.before})
	if withdraw(t.row()) != nil {
		t.turns++ // the journal has a message of that number still
	}
	if len(t.runs) == 0 && t.ending != nil {
		t.end(store.Change{})
	}
}

// admit says that the runner has taken a turn, with how many ahead of it, and
// lets its events come in. It returns the view of whoever sent the message.
func (t *task) admit(r *run, ahead int) *view {
	t.lock()
	defer t.unlock()
	r.fate = queued(ahead)
	t.countTexts(true)
	t.note(r.fate.meta())
	if t.turns > 1 {
		t.publish(&a2a.TaskStatusUpdateEvent{TaskID: t.id, ContextID: t.contextID, Status: t.status, Metadata: t.meta})
	}
	v := t.viewLocked()
	t.changed()
	r.admit()
	return v
}

// end ends the task the way its last turn did; change is what has its end with it.
// The caller holds t.mu.
func (t *task) end(change store.Change) {
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

// stop silences the task for good: the engine has been closed before its turns
// ended. What it has said so far is committed.
func (t *task) stop() {
	t.lock()
	defer t.unlock()
	for _, r := range t.runs {
		r.finish()
	}
	t.disarmSave()
	t.disarmExpiry()
	if t.rec.dirty() {
		t.save(store.Change{})
	}
}
