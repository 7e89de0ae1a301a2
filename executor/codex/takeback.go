package codex

import (
	"context"

	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
)

// takeBack takes an attempt that had done nothing out of the thread's history: the
// model would read the message twice, and between the two that the user had
// interrupted it. It ends the thread's background commands, so where there are any
// the attempt stays. What the model was told in it, it is told again.
func (d *Driver) takeBack(c *conversation, t *turn) bool {
	return d.takeBackTo(c, t.on, t.id, t.before)
}

// takeBackTo is takeBack of a turn and those after it.
func (d *Driver) takeBackTo(c *conversation, on *child.Child, turnID string, before briefing) bool {
	if on.Gone() || d.runsCommands(c, on) {
		return false
	}
	d.untell(c, before) // before it: codex may take it out and die, and what is told twice does no harm
	if !d.takeOut(c, on, turnID) {
		return false
	}
	c.ran, c.named = before.ran, before.named
	return true
}

// runsCommands reports whether commands go on in the thread of c, as far as can be known.
func (d *Driver) runsCommands(c *conversation, on *child.Child) bool {
	ctx, cancel := context.WithTimeout(context.Background(), d.cfg.Grace)
	defer cancel()
	terminals, err := on.BackgroundTerminals(ctx, c.threadID)
	err = on.Settled(err)
	return err != nil || len(terminals) > 0
}

// takeOut takes a turn and those after it out of the history of the thread of c, and reports whether it
// did. Commands of the thread do not go on.
func (d *Driver) takeOut(c *conversation, on *child.Child, turnID string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), d.cfg.Grace)
	defer cancel()
	thread, err := on.ThreadRevert(ctx, c.threadID, turnID)
	if err = on.Settled(err); err != nil {
		d.log.Warn("a turn that is none stays in the history of its thread", "thread_id", c.threadID, "turn_id", turnID, "err", err)
		d.unloaded(c) // codex may have done it, and then the thread's file is another one: the next load tells
		return false
	}
	c.rollout = thread.Path
	return true
}
