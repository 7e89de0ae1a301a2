package codex

import (
	"context"
	"errors"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/login"
)

// What checks ask has a codex of its own, that ends with the answer. No [Driver] has a part in it.

// ReadAccount has a codex say what it is logged in as, and the email of that if there is one.
func ReadAccount(ctx context.Context, p Process) (account executor.Account, email string, err error) {
	err = try(ctx, p, func(c *appserver.Client) error {
		status, err := c.AccountRead(ctx, false)
		if err == nil {
			account, email = login.AccountOf(status)
		}
		return err
	})
	return account, email, err
}

// TryThread has a codex start a thread, of which it writes nothing down.
func TryThread(ctx context.Context, p Process, t Thread) error {
	params := t.params()
	params.Ephemeral = true
	return try(ctx, p, func(c *appserver.Client) error {
		_, err := c.ThreadStart(ctx, params)
		return err
	})
}

// try starts a codex for one question.
func try(ctx context.Context, p Process, ask func(*appserver.Client) error) error {
	c, err := appserver.Start(ctx, p.config())
	if err != nil {
		return refused(err)
	}
	return refused(errors.Join(ask(c), c.Close()))
}
