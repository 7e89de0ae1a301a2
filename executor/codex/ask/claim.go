package ask

import (
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// A claim is a form with nothing to fill in that says of itself that codex asks whether it may
// call a tool. codex hands a server's own on with all that the server has put there (seen on
// 0.169.0), so it is taken for codex's only where such a call has begun.
type claim struct {
	elicitation
	subject         // leave for the call; codex itself grants it where everything is allowed
	other   subject // the server's form
}

func (c claim) pose(d *draft) Posed {
	if d.Called(CallOf(c.Server, c.Meta.Tool, c.Meta.Params)) {
		return c.subject.pose(d)
	}
	p := c.other.pose(d)
	p.subject = c.other
	note := "It says that it is about a call of the tool " + titled(c.Meta.Tool) + ", but no such call is known here."
	p.text += "\n\n" + note
	p.notes = append(p.notes, note)
	if called := spelled(c.Meta.Params); called != "null" {
		p.text += "\n\n" + brief.Indented(d.shown(called))
		setAny(p.data, "arguments", d.arguments(c.Meta.Params))
	}
	return p
}
