package codex

import (
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/ask"
)

// toolCalls are the calls of tools of MCP servers that have begun on a thread and not ended, by
// their items. codex tells of each before it asks whether it may make it, also of what a script
// or a subagent calls (seen on 0.169.0).
type toolCalls map[string]ask.Call

func (t toolCalls) started(item appserver.Item) {
	if item.Type != appserver.ItemMcpToolCall {
		return
	}
	t[item.ID] = ask.CallOf(item.Server, item.Tool, item.Arguments)
}

func (t toolCalls) completed(item appserver.Item) {
	if item.Type == appserver.ItemMcpToolCall {
		delete(t, item.ID)
	}
}

func (t toolCalls) has(wanted ask.Call) bool {
	for _, one := range t {
		if one == wanted {
			return true
		}
	}
	return false
}
