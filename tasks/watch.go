package tasks

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/origin"
)

// A Brief is one line of a list of tasks, for people.
type Brief struct {
	ID        a2a.TaskID
	ContextID string
	State     a2a.TaskState
	At        time.Time // of the state
	Title     string    // how the first message begins
	Caller    string    // who sent it, as far as it says so: user, platform, or agent and its id
	Ahead     int       // turns that were ahead of the newest message when it was accepted
}

const (
	longestTitle  = 120
	longestCaller = 64
	longestOpened = 256 << 10 // a first message that is looked at for its beginning
	mostChanged   = 256       // tasks that are kept for a watch that nobody takes from
)

// briefOf makes a line of a task.
func briefOf(task *a2a.Task, main string) Brief {
	b := Brief{ID: task.ID, ContextID: task.ContextID, State: task.Status.State, At: statusTime(task.Status)}
	if len(task.History) > 0 {
		b.Title, b.Caller = titleOf(task.History[0]), callerOf(task.History[0], main)
	}
	if task.Metadata[keys.Turn] == keys.TurnQueued {
		switch ahead := task.Metadata[keys.Ahead].(type) { // as it was made, or read
		case int:
			b.Ahead = ahead
		case float64:
			b.Ahead = int(ahead)
		}
	}
	return b
}

// titleOf is how a message begins.
func titleOf(m *a2a.Message) string {
	for _, part := range m.Parts {
		if text := strings.TrimSpace(part.Text()); text != "" {
			return brief.Line(brief.Clip(text, 8*longestTitle), longestTitle)
		}
	}
	return ""
}

// callerOf is who sent a message, by what it says itself.
func callerOf(m *a2a.Message, main string) string {
	switch s := origin.Of(m, nil, main); s.Kind {
	case origin.User:
		return "user"
	case origin.Peer: // whose id may be any word, "user" among them
		return brief.Line("agent "+s.ID, longestCaller)
	case origin.Platform:
		return "platform"
	}
	source, _ := m.Metadata["source"].(string)
	return brief.Line(source, longestCaller)
}

// brief is the task's line, as it is shown.
func (t *identity) brief() Brief {
	face := t.feed.Face()
	opening := face.History[:min(1, len(face.History))]
	return briefOf(&a2a.Task{ID: t.id, ContextID: t.contextID, Status: face.Status, Metadata: face.Meta, History: opening}, t.engine.cfg.Main)
}

// watches are those who are told of changes of state. While there are none, a change
// costs a look at a number.
type watches struct {
	some atomic.Int32
	mu   sync.Mutex // guards all; taken after a task's
	all  map[*Watch]bool
}

// changed tells those who watch that the task has another state.
func (t *state) changed() {
	w := &t.engine.watches
	if w.some.Load() == 0 {
		return
	}
	b := t.brief()
	w.mu.Lock()
	defer w.mu.Unlock()
	for watch := range w.all {
		watch.note(b)
	}
}

// A Watch notes which tasks have changed their state, for one reader who takes them
// when he can. Make it with [Engine.Watch]; it must be closed.
type Watch struct {
	of    *watches
	token chan struct{} // holds one while there is something to take

	mu     sync.Mutex // guards the fields below; taken after watches.mu
	order  []a2a.TaskID
	latest map[a2a.TaskID]Brief
	lost   bool
}

// Watch notes the changes from now on.
func (e *Engine) Watch() *Watch {
	w := &Watch{of: &e.watches, token: make(chan struct{}, 1), latest: map[a2a.TaskID]Brief{}}
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	if w.of.all == nil {
		w.of.all = map[*Watch]bool{}
	}
	w.of.all[w] = true
	w.of.some.Store(int32(len(w.of.all)))
	return w
}

// Close ends the watch.
func (w *Watch) Close() {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	delete(w.of.all, w)
	w.of.some.Store(int32(len(w.of.all)))
}

// Changed is sent to when there is something to take.
func (w *Watch) Changed() <-chan struct{} { return w.token }

// Take returns the tasks that have changed since it was called last, in the order of
// their first change, each as it was after its last one. With lost there were too many
// to be kept.
func (w *Watch) Take() (changed []Brief, lost bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range w.order {
		changed = append(changed, w.latest[id])
	}
	lost = w.lost
	w.order, w.latest, w.lost = nil, map[a2a.TaskID]Brief{}, false
	return changed, lost
}

func (w *Watch) note(b Brief) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.latest[b.ID]; !known {
		if len(w.order) >= mostChanged {
			w.lost = true
			return
		}
		w.order = append(w.order, b.ID)
	}
	w.latest[b.ID] = b
	select {
	case w.token <- struct{}{}:
	default:
	}
}

// TaskOf is the task that a job of the runner belongs to.
func TaskOf(job string) a2a.TaskID {
	if i := strings.LastIndexByte(job, '.'); i >= 0 {
		job = job[:i]
	}
	return a2a.TaskID(job)
}

// Asks reports whether the task waits for an answer.
func (b Brief) Asks() bool { return b.State == a2a.TaskStateInputRequired }
