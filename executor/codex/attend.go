package codex

import (
	"context"
	"errors"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

// attended makes a call that may rightly take long, a thread/start that waits
// for slow MCP servers, and looks meanwhile whether the child still answers
// anything at all. One that does not is restarted, which ends the call.
func (d *Driver) attended(ctx context.Context, on *child, call func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for sleep.For(ctx, d.cfg.Patience) && d.answers(ctx, on) {
		}
	}()
	err := call(ctx)
	cancel()
	<-watched
	if appserver.IsHeldUp(err) { // a command of codex's can do that, and ends with it
		d.log.Warn("codex is held up and is restarted", "err", err)
		on.restart(reasonHeldUp)
		<-on.Done()
		return on.Err()
	}
	return err
}

// answers reports whether the child answers, and restarts it if not.
func (d *Driver) answers(ctx context.Context, on *child) bool {
	asked, cancel := context.WithTimeout(ctx, d.cfg.Patience)
	defer cancel()
	err := on.Ping(asked)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil { // its time is up, not the caller's
		d.log.Warn("codex does not answer and is restarted", "patience", d.cfg.Patience)
		on.restart(reasonDeaf)
	}
	return err == nil
}

// Ping implements [executor.Shown].
func (d *Driver) Ping(ctx context.Context) error {
	on, _ := d.child.health()
	if on == nil {
		return nil
	}
	return on.Ping(ctx)
}
