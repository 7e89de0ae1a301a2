package items

import (
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/ask"
)

// Calls are the calls of tools of MCP servers that have begun on a thread and not ended, by
// their items. codex tells of each before it asks whether it may make it, also of what a script
// or a subagent calls (seen on 0.169.0).
type Calls map[string]ask.Call

// Started notes a call that has begun. Items of other kinds are none.
func (t Calls) Started(item appserver.Item) {
	if item.Type != appserver.ItemMcpToolCall {
		return
	}
	t[item.ID] = ask.CallOf(item.Server, item.Tool, item.Arguments)
}

// Completed notes that one has ended.
func (t Calls) Completed(item appserver.Item) {
	if item.Type == appserver.ItemMcpToolCall {
		delete(t, item.ID)
	}
}

// Has reports whether such a call is under way.
func (t Calls) Has(wanted ask.Call) bool {
	for _, one := range t {
		if one == wanted {
			return true
		}
	}
	return false
}
