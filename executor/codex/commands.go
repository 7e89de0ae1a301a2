package codex

import (
	"context"
	"maps"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/items"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/leftovers"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/commands"
)

// endCommands ends the subagents of this turn and the commands that it left running, and
// waits until they are gone: an interrupted turn leaves both behind. Where codex does
// not manage it is restarted, which takes them with it.
func (t *turn) endCommands() {
	t.d.ender.EndAgents(t.on, t.id, t.c.threadID)
	ctx, cancel := t.callContext()
	defer cancel()
	if err := t.endTerminals(ctx); err != nil && !t.on.Gone() && t.c.place == nil { // a machine sees to it by itself
		t.d.log.Warn("a command of an ended turn would not stop, codex is restarted", "turn_id", t.id, "err", err)
		t.on.Restart("command would not stop")
		<-t.on.Done()
	}
	t.endLeftovers()
}

// endTerminals ends the background terminals that this turn opened.
func (t *turn) endTerminals(ctx context.Context) error {
	return leftovers.EndTerminals(ctx, t.on, t.c.threadID, func(terminal appserver.BackgroundTerminal) bool {
		return t.record.Opened(terminal.ItemID)
	})
}

// endLeftovers kills what this turn's commands have started and put out of
// codex's reach, in a session of its own. A command may run before codex says
// so: what is not of an earlier turn of the thread is of this one. An id that the model's
// endpoint gives again is this turn's, too.
func (t *turn) endLeftovers() {
	ctx, cancel := t.callContext()
	defer cancel()
	if t.c.place != nil {
		t.endOnMachine(ctx)
		return
	}
	t.d.ender.KillCommands(ctx, t.leaves)
}

// leaves reports whether a command is one that the turn leaves running.
func (t *turn) leaves(c commands.Command) bool {
	earlier := t.c.earlier[c.CallID] && !t.record.Opened(c.CallID)
	return (c.ThreadID == t.c.threadID || c.SessionID == t.c.threadID) && !earlier
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

// EndAgents ends the subagents that work in the conversation of a thread, also those that
// go on after a turn that ended well, with their commands. It returns how many they were.
func (d *Driver) EndAgents(thread string) int {
	on, _ := d.child.Health()
	if on == nil || thread == "" {
		return 0
	}
	return d.ender.EndAgents(on, "", thread)
}

// endLate ends subagents that have begun after the turn was ended that they work for.
func (d *Driver) endLate(root string) {
	if on, _ := d.child.Health(); on != nil {
		d.ender.EndAgents(on, root, "")
	}
}
