package tasks

import (
	"sync/atomic"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/slowlock"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/feed"
)

// A task is a task that has not ended, or whose last readers have not. All that changes of it is its
// state, which is changed between lock and unlock and nowhere else: what has only the state cannot lock.
type task struct {
	*identity

	writing slowlock.Lock // guards state; held while a change is committed, too
	state
}

// An identity is what of a task may be read without its lock.
type identity struct {
	engine       *Engine
	id           a2a.TaskID
	contextID    string
	conversation string        // that its turns run in
	class        store.Class   // what it is kept among if no turn is made of it
	over         chan struct{} // closed when the task has ended
	feed         *feed.Feed    // what readers see
	waiters      atomic.Int32  // callers who wait for its reply; one can move on to another task
	headWaits    atomic.Bool   // a state that is shown has not been committed yet
}

// A state is what changes of a task. Its methods, and those of the task's runs, are called under the
// task's lock.
type state struct {
	*identity
	task *task // whose state it is

	status     a2a.TaskStatus
	history    []*a2a.Message // only ever appended to or replaced
	artifacts  []*artifact
	names      names          // of the artifacts
	texts      int            // bytes of theirs; see countedText
	counted    bool           // they count among those of all tasks
	meta       map[string]any // replaced, never changed
	cached     *a2a.Task      // the snapshot, or nil since something was published
	epoch      int
	unseen     bool // something was changed since the feed was given it
	reordered  bool // so was the order of the artifacts
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
	canceled   bool    // a turn, or a question over a restart, ended by the cancel
	ending     *ending // of the last turn that ended, or nil
}

func (e *Engine) newTask(id a2a.TaskID, contextID, conversation string) *task {
	t := &task{identity: &identity{
		engine: e, id: id, contextID: contextID, conversation: conversation,
		over: make(chan struct{}),
	}}
	t.state = state{
		identity: t.identity, task: t,
		status: a2a.TaskStatus{State: a2a.TaskStateSubmitted, Timestamp: now()},
		sorted: true,
		epoch:  1,
		rec:    recorder{epoch: 1}, // the journal gives it to a task that it accepts
	}
	t.feed = feed.New(t.TaskInfo(), feed.Cursor{Epoch: 1}, t.face())
	t.retold = retold{peer: t.ofPeer(), all: &e.retold}
	return t
}

// TaskInfo implements [a2a.TaskInfoProvider].
func (t *identity) TaskInfo() a2a.TaskInfo {
	return a2a.TaskInfo{TaskID: t.id, ContextID: t.contextID}
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
func (t *identity) peek() *a2a.Task { return t.feed.Task() }

// enter changes the state: it is committed, then published.
func (t *state) enter(state a2a.TaskState, message *a2a.Message, change store.Change) {
	before := t.status.State
	t.status = a2a.TaskStatus{State: state, Timestamp: now(), Message: message}
	t.touch()
	t.owe(before)
	t.announce(change)
}

// announce commits the state that t.status is set to, and publishes it.
func (t *state) announce(change store.Change) {
	event := &a2a.TaskStatusUpdateEvent{
		TaskID: t.id, ContextID: t.contextID, Status: t.status, Metadata: t.meta,
	}
	t.notifyState(event)
	row := t.row()
	change.Head = &row
	t.commit(change, t.telling(event))
	t.changed()
}

// working says that a turn has begun. It is committed a little later than it is shown: codex is at work
// from here on, and on a small machine waits for whatever else runs. That the attempt was begun is in
// the journal already. What receivers of push notifications are told is committed first, as always.
func (t *state) working(turn store.Turn) {
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
