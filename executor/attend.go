package executor

import (
	"context"
	"errors"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

// attended makes a call that may rightly take long, a thread/start that waits
// for slow MCP servers, and looks meanwhile whether the child still answers
// anything at all. One that does not is restarted, which ends the call.
func (e *Executor) attended(ctx context.Context, on *child, call func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for sleep.For(ctx, e.cfg.Patience) && e.answers(ctx, on) {
		}
	}()
	err := call(ctx)
	cancel()
	<-watched
	if appserver.IsHeldUp(err) { // a command of codex's can do that, and ends with it
		e.log.Warn("codex is held up and is restarted", "err", err)
		on.restart(reasonHeldUp)
		<-on.Done()
		return on.Err()
	}
	return err
}

// answers reports whether the child answers, and restarts it if not.
func (e *Executor) answers(ctx context.Context, on *child) bool {
	asked, cancel := context.WithTimeout(ctx, e.cfg.Patience)
	defer cancel()
	err := on.Ping(asked)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil { // its time is up, not the caller's
		e.log.Warn("codex does not answer and is restarted", "patience", e.cfg.Patience)
		on.restart(reasonDeaf)
	}
	return err == nil
}

// Ping asks the child, if one runs, for a sign of life within the time of ctx.
// Without a child there is nothing to ask: [Executor.Health] says why.
func (e *Executor) Ping(ctx context.Context) error {
	on, _ := e.child.health()
	if on == nil {
		return nil
	}
	return on.Ping(ctx)
}
