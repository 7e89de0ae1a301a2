package tasks

import (
	"context"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// A Ledger is the part of a journal that the executor's notes go to.
type Ledger interface {
	Conversation(ctx context.Context, key string) (store.Conversation, error)
	ConversationUsed(ctx context.Context, conversation string) (bool, error)
	ThreadUsed(ctx context.Context, thread string) (bool, error)
	Threads(ctx context.Context) ([]string, error)
	RecordInstructions(ctx context.Context, thread, digest string) error
	Begin(ctx context.Context, job string, attempt int, conversation, thread, model, tools string) error
	Vanished(ctx context.Context, job string, attempt int) (int, error)
}

var _ Ledger = (*store.Store)(nil)

// Book returns an [executor.Book] that writes into the journal of the tasks
// whose jobs the executor runs.
func Book(l Ledger) executor.Journal { return book{l} }

type book struct{ Ledger }

// Past implements [executor.Book].
func (b book) Past(ctx context.Context, conversation string) (executor.Past, error) {
	known, err := b.Conversation(ctx, conversation)
	return executor.Past(known), err
}

// Begin implements [executor.Book].
func (b book) Begin(ctx context.Context, a executor.Attempt) error {
	return b.Ledger.Begin(ctx, a.Job, a.N, a.Conversation, a.Thread, a.Model, a.Tools)
}

// Vanished implements [executor.Book].
func (b book) Vanished(ctx context.Context, a executor.Attempt) (int, error) {
	return b.Ledger.Vanished(ctx, a.Job, a.N)
}
