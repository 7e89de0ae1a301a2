package codex

import (
	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// codex has the model call tools from scripts ("code mode", of gpt-5.6 and later). A script that
// has yielded outlives its turn: it stands still, and goes on in the next turn of its thread.
// What it begins there has the sandbox, the policy and the id of its own turn, but codex asks about
// tools of MCP servers only where the turn that runs would have it ask (seen on 0.169.0,
// TestScriptEndsWhereMoreIsAllowed). So scripts end where a turn may do more or less than the one
// before: [Driver.regrant] unloads the thread. Between turns that may do the same what a script
// asks is declined ([Driver.askerOf]): the sender of the message that runs did not send the
// script's.

// stray shows what a script of an earlier turn begins while this one runs, for it stands in no
// other task. It is no tool of this turn: where that is cut off its message may run again. What
// ends after this turn is not shown to have ended.
func (t *turn) stray(item appserver.Item, said agent.Item, started bool) {
	switch {
	case started && item.Type.IsTool():
		t.record.Strays[item.ID] = true
		t.To.Tell(agent.ItemStarted{Item: said, Stray: true})
	case !started && t.record.Strays[item.ID]:
		delete(t.record.Strays, item.ID)
		t.To.Tell(agent.ItemCompleted{Item: said})
	}
}
