package host

import (
	"context"
	"errors"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// conversations are the threads that the store names and codex holds.
type conversations struct {
	*store.Store
	codex *codex.Driver
}

// EndAgents implements [tasks.Conversations].
func (c conversations) EndAgents(ctx context.Context, conversation string) (int, error) {
	thread, err := c.Thread(ctx, conversation)
	if err != nil {
		return 0, err
	}
	return c.codex.EndAgents(thread), nil
}

// Drop implements [tasks.Conversations]. Subagents that still work end with the
// conversation; the thread's file goes with the next tidying.
func (c conversations) Drop(ctx context.Context, conversation string) error {
	if err := c.codex.Drop(ctx, conversation); err != nil {
		return err
	}
	if _, err := c.EndAgents(ctx, conversation); err != nil {
		return err
	}
	err := c.ForgetConversation(ctx, conversation, time.Time{})
	if errors.Is(err, store.ErrInUse) {
		thread, readErr := c.Thread(ctx, conversation)
		if readErr != nil || thread == "" { // there was none to forget
			return readErr
		}
		return executor.ErrBusy // a message has come in between
	}
	return err
}
