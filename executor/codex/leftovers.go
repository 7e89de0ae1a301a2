package codex

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/items"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

// goneEvery is how often the end of a terminated command is looked for.
const goneEvery = 20 * time.Millisecond

// endCommands ends the subagents of this turn and the commands that it left running, and
// waits until they are gone: an interrupted turn leaves both behind. Where codex does
// not manage it is restarted, which takes them with it.
func (t *turn) endCommands() {
	t.endAgents()
	ctx, cancel := t.callContext()
	defer cancel()
	if err := t.endTerminals(ctx); err != nil && !t.on.Gone() {
		t.d.log.Warn("a command of an ended turn would not stop, codex is restarted", "turn_id", t.id, "err", err)
		t.on.Restart("command would not stop")
		<-t.on.Done()
	}
	t.endLeftovers()
}

// endTerminals ends the background terminals that this turn opened.
func (t *turn) endTerminals(ctx context.Context) error {
	return endTerminals(ctx, t.on, t.c.threadID, func(terminal appserver.BackgroundTerminal) bool {
		return t.record.Opened(terminal.ItemID)
	})
}

// endTerminals ends those of a thread's background terminals that match, and waits until
// they are gone.
func endTerminals(ctx context.Context, on *child.Child, thread string, match func(appserver.BackgroundTerminal) bool) error {
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
		if !sleep.For(ctx, goneEvery) {
			return context.Cause(ctx)
		}
	}
}

// endLeftovers kills what this turn's commands have started and put out of
// codex's reach, in a session of its own. A command may run before codex says
// so: whatever is not of an earlier turn of the thread is of this one. An id that the model's
// endpoint gives again is this turn's, too.
func (t *turn) endLeftovers() {
	ctx, cancel := t.callContext()
	defer cancel()
	t.d.killCommands(ctx, func(c appserver.Command) bool {
		earlier := t.c.earlier[c.CallID] && !t.record.Opened(c.CallID)
		return (c.ThreadID == t.c.threadID || c.SessionID == t.c.threadID) && !earlier
	})
}

// mostEarlier bounds the commands of earlier turns that a conversation
// remembers. Past it all are forgotten, and a server that one of them has
// started may end with a canceled turn.
const mostEarlier = 256

// remember takes the commands of a turn that has ended among the earlier ones.
func (c *conversation) remember(r *items.Record) {
	if len(c.earlier)+len(r.Commands) > mostEarlier || c.earlier == nil {
		c.earlier = map[string]bool{}
	}
	maps.Copy(c.earlier, r.Commands)
}

// childEnded cleans up after a child, before the next one starts.
func (d *Driver) childEnded(dead *child.Child) {
	d.dropDead(dead)
	d.guard.Forget()
	d.desk.ForgetAgents()
	d.endAllLeftovers()
}

// endAllLeftovers kills what is left of the commands of all our threads. It is
// for the time after a child's end, when nobody is left who would end them.
func (d *Driver) endAllLeftovers() {
	ctx, cancel := context.WithTimeout(context.Background(), d.cfg.Grace)
	defer cancel()
	d.killCommands(ctx, func(c appserver.Command) bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.threads[c.ThreadID] || d.threads[c.SessionID]
	})
}

// killCommands kills what matches until nothing does: a process may start
// another while it is being killed.
func (d *Driver) killCommands(ctx context.Context, match func(appserver.Command) bool) {
	for {
		left, failed := d.killOnce(ctx, match)
		if len(left) == 0 {
			if failed != nil {
				d.log.Warn("commands that codex may have left running could not be looked for", "err", failed)
			}
			return
		}
		d.log.Info("commands that codex had left running were killed", "count", len(left), "err", failed)
		if !sleep.For(ctx, goneEvery) {
			d.log.Warn("commands of codex still run", "count", len(left), "err", context.Cause(ctx))
			return
		}
	}
}

// killOnce kills what matches now. Who may look into commands is the user that they run as.
func (d *Driver) killOnce(ctx context.Context, match func(appserver.Command) bool) (found []appserver.Command, err error) {
	err = d.cfg.Child.User.Do(func() (failed error) {
		found = appserver.Commands(ctx, match)
		for _, command := range found {
			failed = errors.Join(failed, command.Kill())
		}
		return failed
	})
	return found, err
}
