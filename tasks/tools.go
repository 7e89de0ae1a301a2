package tasks

import (
	"slices"
	"time"

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

// trace notes a tool that the turn has used, for a workspace's platform.
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

// toolTrace is the trace of the task with that of the turn; nil if there is none.
func (r *run) toolTrace() any {
	before, _ := r.task.meta[keys.Tools].([]any)
	if len(before)+len(r.tools) == 0 {
		return nil
	}
	all := slices.Concat(before, r.tools)
	return all[:min(len(all), mostTools)]
}

// mostClocked bounds the tools of a turn that are clocked at the same time.
const mostClocked = 256

// clock notes when a tool has started.
func (r *run) clock(item agent.Item) {
	if len(r.began) >= mostClocked {
		return
	}
	if r.began == nil {
		r.began = map[string]time.Time{}
	}
	r.began[item.ID] = time.Now()
}

// clocked counts a tool that has ended.
func (r *run) clocked(item agent.Item) {
	if began, ok := r.began[item.ID]; ok {
		delete(r.began, item.ID)
		r.task.engine.cfg.Metrics.ToolEnded(string(item.Kind), time.Since(began))
	}
}

// delegateTool is the tool whose call lasts until another agent has answered.
const delegateTool = "delegate_task"

// delegate notes that such a call has begun, or is over.
func (r *run) delegate(item agent.Item, begun bool) {
	if item.Tool != delegateTool {
		return
	}
	if r.delegations == nil {
		r.delegations = map[string]bool{}
	}
	if r.delegations[item.ID] = true; !begun {
		delete(r.delegations, item.ID)
	}
}

// delegates reports whether a turn of the task waits for another agent. A message of an
// agent that comes meanwhile must not wait for that turn: it may be what the other needs.
func (t *task) delegates() bool {
	t.lock()
	defer t.unlock()
	return slices.ContainsFunc(t.runs, func(r *run) bool { return len(r.delegations) > 0 })
}
