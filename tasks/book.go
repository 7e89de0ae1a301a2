package tasks

import (
	"context"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// A Ledger is the part of a journal that the executor's notes go to.
type Ledger interface {
	Begin(ctx context.Context, job string, attempt int, conversation, thread, model, tools string) error
	Vanished(ctx context.Context, job string, attempt int) (int, error)
}

var _ Ledger = (*store.Store)(nil)

// Book returns an [executor.Journal] that writes into the journal of the tasks
// whose jobs the executor runs.
func Book(l Ledger) executor.Journal { return book{l} }

type book struct{ Ledger }

// Begin implements [executor.Journal].
func (b book) Begin(ctx context.Context, a executor.Attempt) error {
	return b.Ledger.Begin(ctx, a.Job, a.N, a.Conversation, a.Thread, a.Model, a.Tools)
}

// Vanished implements [executor.Journal].
func (b book) Vanished(ctx context.Context, a executor.Attempt) (int, error) {
	return b.Ledger.Vanished(ctx, a.Job, a.N)
}
