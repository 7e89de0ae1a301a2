package tasks

import (
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// mostClocked bounds the tools of a turn that are clocked at the same time.
const mostClocked = 256

// clock notes when a tool has started. The caller holds t.mu.
func (r *run) clock(item agent.Item) {
	if len(r.began) >= mostClocked {
		return
	}
	if r.began == nil {
		r.began = map[string]time.Time{}
	}
	r.began[item.ID] = time.Now()
}

// clocked counts a tool that has ended. The caller holds t.mu.
func (r *run) clocked(item agent.Item) {
	if began, ok := r.began[item.ID]; ok {
		delete(r.began, item.ID)
		r.task.engine.cfg.Metrics.ToolEnded(string(item.Kind), time.Since(began))
	}
}
