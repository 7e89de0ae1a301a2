package tasks

import (
	"context"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// A Journal keeps tasks, the messages they are made of, and what happened in
// them. A [store.Store] is one, and says what its methods mean; the interface is
// for tests that make it fail. An error but
// [store.ErrNotSynced] means that the operation did not happen.
type Journal interface {
	Message(ctx context.Context, key store.Key) (store.Message, error)
	Accept(ctx context.Context, m store.Message, head store.Head) error
	Replace(ctx context.Context, m store.Message, head store.Head) error
	Withdraw(ctx context.Context, job string, head *store.Head) error
	Write(ctx context.Context, change store.Change) error
	Sync(ctx context.Context) error
	Task(ctx context.Context, id string) (store.Task, error)
	Tasks(ctx context.Context, q store.Query) (store.Page, error)
	Events(ctx context.Context, task string, after int64, limit int) ([]store.Events, error)
	Unfinished(ctx context.Context) ([]store.Pending, error)

	SetPush(ctx context.Context, task string, p store.Push) error
	Pushes(ctx context.Context, task string) ([]store.Push, error)
	DropPush(ctx context.Context, task, id string) error
}

var _ Journal = (*store.Store)(nil)

// A Position is a place in the order of lists.
type Position = store.Position

// statusTime is the time of a status, which the journal sorts by.
func statusTime(s a2a.TaskStatus) time.Time {
	if s.Timestamp == nil {
		return time.Time{}
	}
	return *s.Timestamp
}
