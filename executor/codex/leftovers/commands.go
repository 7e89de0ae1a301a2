package leftovers

import (
	"context"
	"errors"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/commands"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

// Every is how often the end of a terminated command is looked for.
const Every = 20 * time.Millisecond

// EndTerminals ends those of a thread's background terminals that match, and waits until
// they are gone.
func EndTerminals(ctx context.Context, on *child.Child, thread string, match func(appserver.BackgroundTerminal) bool) error {
	for {
		all, err := on.BackgroundTerminals(ctx, thread)
		if err != nil {
			return err
		}
		left := 0
		for _, terminal := range all {
			if !match(terminal) {
				continue
			}
			left++
			if _, err := on.TerminateTerminal(ctx, thread, terminal.ProcessID); err != nil {
				return err
			}
		}
		if left == 0 {
			return nil
		}
		if !sleep.For(ctx, Every) {
			return context.Cause(ctx)
		}
	}
}

// KillCommands kills what matches until nothing does: a process may start
// another while it is being killed.
func (e *Ender) KillCommands(ctx context.Context, match func(commands.Command) bool) {
	for {
		left, failed := e.killOnce(ctx, match)
		if len(left) == 0 {
			if failed != nil {
				e.log.Warn("commands that codex may have left running could not be looked for", "err", failed)
			}
			return
		}
		e.log.Info("commands that codex had left running were killed", "count", len(left), "err", failed)
		if !sleep.For(ctx, Every) {
			e.log.Warn("commands of codex still run", "count", len(left), "err", context.Cause(ctx))
			return
		}
	}
}

// killOnce kills what matches now. Who may look into commands is the user that they run as.
func (e *Ender) killOnce(ctx context.Context, match func(commands.Command) bool) (found []commands.Command, err error) {
	err = e.cfg.User.Do(func() (failed error) {
		found = commands.Find(ctx, match)
		for _, command := range found {
			failed = errors.Join(failed, command.Kill())
		}
		return failed
	})
	return found, err
}
