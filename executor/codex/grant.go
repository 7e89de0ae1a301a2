package codex

import (
	"cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// A grant is what codex may do in a turn.
type grant struct {
	policy  agent.ApprovalPolicy
	sandbox agent.Sandbox
}

// ownGrant is that of turns whose job asks for nothing else.
func (d *Driver) ownGrant() grant {
	return grant{d.cfg.Thread.ApprovalPolicy, d.cfg.Thread.Sandbox}
}

// grantOf is what the thread of c is loaded with, or will be. Of a conversation that was let go
// nothing else is known than that its turns have their own.
func (d *Driver) grantOf(c *conversation) grant {
	if c.granted == (grant{}) {
		return d.ownGrant()
	}
	return c.granted
}

// allowed is what codex may do in a turn that asks for o.
func (d *Driver) allowed(o agent.Options) grant {
	own := d.ownGrant()
	return grant{cmp.Or(o.ApprovalPolicy, own.policy), cmp.Or(o.Sandbox, own.sandbox)}
}

// mayAsk reports whether there are people to answer what a turn asks.
func (d *Driver) mayAsk(o agent.Options) bool { return d.allowed(o).policy != agent.Never }

// everythingAllowed reports whether codex may do everything without asking in a
// turn, in which case a question only comes by mistake. never alone is not enough:
// a yes would widen the sandbox that was chosen.
func (d *Driver) everythingAllowed(o agent.Options) bool {
	return d.allowed(o) == grant{agent.Never, agent.FullAccess}
}
