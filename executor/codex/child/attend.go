package child

import (
	"context"
	"errors"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

// Attended makes a call that may rightly take long, a thread/start that waits
// for slow MCP servers, and looks meanwhile whether the child still answers
// anything at all. One that does not is restarted, which ends the call.
func (c *Child) Attended(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for sleep.For(ctx, c.patience) && c.answers(ctx) {
		}
	}()
	err := call(ctx)
	cancel()
	<-watched
	if appserver.IsHeldUp(err) { // a command of codex's can do that, and ends with it
		c.log.Warn("codex is held up and is restarted", "err", err)
		c.Restart(reasonHeldUp)
		<-c.Done()
		return c.Err()
	}
	return err
}

// answers reports whether the child answers, and restarts it if not.
func (c *Child) answers(ctx context.Context) bool {
	asked, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	err := c.Ping(asked)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil { // its time is up, not the caller's
		c.log.Warn("codex does not answer and is restarted", "patience", c.patience)
		c.Restart(ReasonDeaf)
	}
	return err == nil
}
