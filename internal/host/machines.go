package host

import (
	"net/http"

	"github.com/Molecule-AI/molecule-codex-runtime/fleet/control"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/readiness"
)

// machines are those that commands run on, for readiness; nil where they run here.
func (g *Ground) machines() readiness.Machines {
	if g.Fleet == nil {
		return nil
	}
	return g.Fleet
}

// MachinesAPI is the way of people to the machines. Where commands run here it says so.
func (g *Ground) MachinesAPI() http.Handler {
	if g.Fleet == nil {
		return control.Handler(nil)
	}
	return control.Handler(g.Fleet)
}

// Wedged finds out why no turn can be started. Problem says what is wrong with the configuration, and is nil where
// nothing of it could be.
func (t *Turns) Wedged(problem func() string) func() string {
	w := &readiness.Wedge{Turns: t.Executor, Checks: t.Checks, Problem: problem, Machines: t.machines()}
	return w.Why
}
