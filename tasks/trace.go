package tasks

import (
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/progress"
)

// Bounds of a tool trace: what the platform shows of it.
const (
	mostTools    = 200
	toolInput    = 500
	toolOutput   = 300
	ellipsisSize = len("…")
	// mostLookedAt is how much of a text is looked through for secrets: more than any
	// secret has, and not all of a long output, for the task is locked meanwhile.
	mostLookedAt = 64 << 10
)

// trace notes a tool that the turn has used, for a workspace's platform. The caller
// holds t.mu.
func (r *run) trace(item agent.Item) {
	w := r.task.engine.cfg.Workspace
	if w == nil || !item.Kind.IsTool() || len(r.tools) >= mostTools {
		return
	}
	shown := func(s string, most int) string {
		if w.Redact != nil {
			s = brief.Cleared(s, mostLookedAt, w.Redact)
		}
		return brief.Clip(s, most-ellipsisSize)
	}
	tool, input := progress.ToolCalled(item)
	r.tools = append(r.tools, map[string]any{
		"tool": tool, "input": shown(input, toolInput), "output_preview": shown(item.Output, toolOutput),
	})
}

// toolTrace is the trace of the task with that of the turn; nil if there is none. The
// caller holds t.mu.
func (r *run) toolTrace() any {
	before, _ := r.task.meta[keys.Tools].([]any)
	if len(before)+len(r.tools) == 0 {
		return nil
	}
	all := slices.Concat(before, r.tools)
	return all[:min(len(all), mostTools)]
}
