package tasks

import (
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// mostClocked bounds the tools of a turn that are clocked at the same time.
const mostClocked = 256

// clock notes when a tool has started. The caller holds t.mu.
func (r *run) clock(item appserver.Item) {
	if len(r.began) >= mostClocked {
		return
	}
	if r.began == nil {
		r.began = map[string]time.Time{}
	}
	r.began[item.ID] = time.Now()
}

// clocked counts a tool that has ended. The caller holds t.mu.
func (r *run) clocked(item appserver.Item) {
	if began, ok := r.began[item.ID]; ok {
		delete(r.began, item.ID)
		r.task.engine.cfg.Metrics.ToolEnded(ToolKind(item.Type), time.Since(began))
	}
}

// ToolKind names the kind of a tool for those who count: codex may invent kinds, and
// there must not be a series for each.
func ToolKind(t appserver.ItemType) string {
	switch t {
	case appserver.ItemCommandExecution:
		return "command"
	case appserver.ItemFileChange:
		return "file_change"
	case appserver.ItemMcpToolCall:
		return "mcp"
	case appserver.ItemDynamicToolCall:
		return "workspace"
	case appserver.ItemWebSearch:
		return "web_search"
	}
	return "other"
}
