package tasks

import (
	"context"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// A Journal keeps tasks, the messages they are made of, and what happened in
// them. A [store.Store] is one, and says what its methods mean; the interface is
// for tests that make it fail.
type Journal interface {
	Message(ctx context.Context, key store.Key) (store.Message, error)
	Body(ctx context.Context, job string) ([]byte, error)
	Accept(ctx context.Context, m store.Message, head store.Head) error
	Replace(ctx context.Context, m store.Message, head store.Head) error
	Withdraw(ctx context.Context, job string, head *store.Head) error
	Write(ctx context.Context, change store.Change) error
	Sync(ctx context.Context) error
	Head(ctx context.Context, id string) (store.Head, error)
	Task(ctx context.Context, id string) (store.Task, error)
	Tasks(ctx context.Context, q store.Query) (store.Page, error)
	Events(ctx context.Context, task string, after int64, most int) ([]store.Events, error)
	Unfinished(ctx context.Context) ([]store.Pending, error)

	SetPush(ctx context.Context, task string, p store.Push) error
	Pushes(ctx context.Context, task string) ([]store.Push, error)
	WithdrawDeliveries(ctx context.Context, kind, task string) error
	ExpediteDeliveries(ctx context.Context, kind, task string) error

	Delivery(ctx context.Context, id int64) (store.Delivery, error)
	SentTo(ctx context.Context, kind, target string) (store.Delivery, error)
	AimDelivery(ctx context.Context, id int64, target string) error

	DropPush(ctx context.Context, task, id string) error
}

var _ Journal = (*store.Store)(nil)
