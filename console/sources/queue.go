package sources

import (
	"github.com/Molecule-AI/molecule-codex-runtime/console"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/readiness"
)

// queueOf is what the console shows of it.
func queueOf(h executor.Health) console.Queue {
	return console.Queue{
		Running: h.Slots.Working, Waiting: h.Waiting, Limit: h.Slots.Limit, Asking: h.Slots.Asking + h.Slots.Parked, FullSince: readiness.FullSince(h.Slots),
	}
}
