// Package feed has what readers see of a task that has not ended: the task as it was shown last, and
// the log of its events. A [Feed] has a lock of its own, under which nothing is waited for: its readers
// wait neither for the task's changes nor for their commits. What is put into it is immutable.
package feed

import (
	"slices"
	"sync"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// A Feed is what is shown of one task. It is made by [New].
type Feed struct {
	info a2a.TaskInfo

	mu        sync.Mutex // guards the fields below
	face      Face
	artifacts []*Artifact
	cached    *a2a.Task // the snapshot, or nil since something has changed
	states    signal    // the state has changed
	log       log
}

// A Face is what is shown of a task beside its artifacts.
type Face struct {
	Status  a2a.TaskStatus
	History []*a2a.Message
	Meta    map[string]any
}

// New returns the feed of a task whose next event stands behind a cursor.
func New(info a2a.TaskInfo, at Cursor, face Face) *Feed {
	return &Feed{info: info, face: face, log: log{tail: &entry{at: at}}}
}

// Sync shows a face in the place of the one before, without an event, and the artifacts in their order
// if that is not nil.
func (f *Feed) Sync(face Face, order []*Artifact) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.syncLocked(face, order)
}

func (f *Feed) syncLocked(face Face, order []*Artifact) {
	changed := f.face.Status.State != face.Status.State
	f.face, f.cached = face, nil
	if order != nil {
		f.artifacts = order
	}
	if changed {
		f.states.fire()
	}
}

// An Update is what an event shows of its task.
type Update struct {
	Event a2a.Event
	Epoch int
	Last  bool // no more will follow
	Face  Face
	Order []*Artifact // of the artifacts; nil leaves it as it was

	Artifact *Artifact // that the event is of; nil if it is of none
	Piece    Piece     // that is shown of it from now on
}

// Show appends an event to the log, and shows what has changed with it.
func (f *Feed) Show(u Update) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if a := u.Artifact; a != nil {
		a.piece, a.shown, a.made = u.Piece, true, nil
	}
	f.log.append(u.Event, u.Epoch, u.Last)
	f.syncLocked(u.Face, u.Order)
}

// Face returns what is shown of the task beside its artifacts.
func (f *Feed) Face() Face {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.face
}

// Task returns the task as it is shown: the fold of the log. Callers share it.
func (f *Feed) Task() *a2a.Task {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.taskLocked()
}

func (f *Feed) taskLocked() *a2a.Task {
	if f.cached != nil {
		return f.cached
	}
	task := &a2a.Task{
		ID: f.info.TaskID, ContextID: f.info.ContextID,
		Status: f.face.Status, History: slices.Clip(f.face.History), Metadata: f.face.Meta,
	}
	for _, a := range f.artifacts {
		if !a.shown {
			continue
		}
		if a.made == nil {
			a.made = a.piece.Artifact()
		}
		task.Artifacts = append(task.Artifacts, a.made)
	}
	task.Artifacts = slices.Clip(task.Artifacts)
	f.cached = task
	return task
}

// Settled returns the task if it is in a state that is asked for, and else a channel that is closed at
// its next change of state.
func (f *Feed) Settled(in func(a2a.TaskState) bool) (*a2a.Task, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if in(f.face.Status.State) {
		return f.taskLocked(), nil
	}
	return nil, f.states.wait()
}

// A signal wakes all that wait for it. Its zero value works; the owner's
// lock guards it.
type signal struct{ ch chan struct{} }

// wait returns a channel that the next fire closes.
func (s *signal) wait() <-chan struct{} {
	if s.ch == nil {
		s.ch = make(chan struct{})
	}
	return s.ch
}

func (s *signal) fire() {
	if s.ch != nil {
		close(s.ch)
		s.ch = nil
	}
}
