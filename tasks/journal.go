package tasks

import (
	"context"
	"errors"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// ErrUnknown is returned by a [Journal] that does not have what it was asked for.
var ErrUnknown = errors.New("not in the journal")

// A Journal keeps tasks and the messages they were made of. It holds what must
// outlive a task's run, at the points where its state changes: what happens
// between them is the engine's. The tasks given to it and returned by it are
// shared and must not be changed. An error means that the operation did not
// happen.
type Journal interface {
	// Find returns the message of a key, or [ErrUnknown].
	Find(ctx context.Context, key Key) (Entry, error)
	// Accept commits a message, and its task as it is with it.
	Accept(ctx context.Context, entry Entry, task *a2a.Task) error
	// Withdraw takes back a message that was accepted and not queued. A nil task
	// goes with it; any other is saved.
	Withdraw(ctx context.Context, entry Entry, task *a2a.Task) error
	// Save replaces what is kept of a task. The engine calls it under the task's
	// lock, before the new state is published.
	Save(ctx context.Context, task *a2a.Task) error
	// Load returns a task, or [ErrUnknown].
	Load(ctx context.Context, id a2a.TaskID) (*a2a.Task, error)
	// List returns a page of the tasks that match, the latest status first and
	// the greater id first among equals.
	List(ctx context.Context, query Query) (Page, error)
}

// A Key identifies a message across repetitions. The ids are those that its
// sender gave; all but MessageID may be empty.
type Key struct {
	ContextID string
	TaskID    a2a.TaskID
	MessageID string
}

// A Digest stands for the parts of a message, whatever version and spelling
// they came in.
type Digest [32]byte

// An Entry is an accepted message.
type Entry struct {
	Key    Key
	Digest Digest
	TaskID a2a.TaskID
	JobID  string // of the first attempt to run it
	Thread string // the conversation that it runs in
}

// A Query selects tasks. Zero fields select all.
type Query struct {
	ContextID string
	State     a2a.TaskState
	Since     time.Time // the earliest time of the status
	After     Position  // the last task of the page before
	Limit     int       // of a page; must be positive
}

// A Position is a place in the order of [Journal.List].
type Position struct {
	Time time.Time
	ID   a2a.TaskID
}

// A Page is an answer to a [Query].
type Page struct {
	Tasks []*a2a.Task
	Total int  // tasks that match, on all pages
	More  bool // there are more after this page
}

// position returns where a task stands in the order of lists.
func position(t *a2a.Task) Position {
	p := Position{ID: t.ID}
	if t.Status.Timestamp != nil {
		p.Time = *t.Status.Timestamp
	}
	return p
}

// compare orders positions, the first of a list first.
func (p Position) compare(q Position) int {
	if c := q.Time.Compare(p.Time); c != 0 {
		return c
	}
	switch {
	case p.ID > q.ID:
		return -1
	case p.ID < q.ID:
		return 1
	}
	return 0
}
