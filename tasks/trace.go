package tasks

import (
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
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
		return clip(s, most-ellipsisSize)
	}
	tool, input := toolCalled(item)
	r.tools = append(r.tools, map[string]any{
		"tool": tool, "input": shown(input, toolInput), "output_preview": shown(item.Output, toolOutput),
	})
}

// toolCalled names a tool as the platform knows it, and what it was called with.
func toolCalled(item agent.Item) (name, input string) {
	switch item.Kind {
	case agent.KindCommand:
		return "command_execution", item.Subject()
	case agent.KindFileChange:
		var paths []string
		for _, c := range item.Changes {
			paths = append(paths, c.Kind+" "+c.Path)
		}
		return "file_change", strings.Join(paths, "\n")
	case agent.KindMCP:
		return "mcp__" + item.Server + "__" + item.Tool, item.Subject()
	case agent.KindTool:
		return "mcp__molecule__" + item.Tool, item.Subject()
	case agent.KindWebSearch:
		return "web_search", item.Subject()
	}
	return item.Name, ""
}

// toolTrace is the trace of the task with that of the turn; nil if there is none. The
// caller holds t.mu.
func (r *run) toolTrace() any {
	before, _ := r.task.meta[MetaTools].([]any)
	if len(before)+len(r.tools) == 0 {
		return nil
	}
	all := slices.Concat(before, r.tools)
	return all[:min(len(all), mostTools)]
}
