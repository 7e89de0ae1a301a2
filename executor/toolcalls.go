package executor

import (
	"crypto/sha256"
	"encoding/json"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// toolCalls are the calls of tools of MCP servers that have begun on a thread and not ended, by
// their items. codex tells of each before it asks whether it may make it, also of what a script
// or a subagent calls (seen on 0.169.0).
type toolCalls map[string]toolCall

// A toolCall is what is called with what, as a digest: arguments may be large.
type toolCall [sha256.Size]byte

func toolCallOf(server, tool string, arguments json.RawMessage) toolCall {
	return sha256.Sum256([]byte(encoded([]string{server, tool}) + spelled(arguments)))
}

func (t toolCalls) started(item appserver.Item) {
	if item.Type != appserver.ItemMcpToolCall {
		return
	}
	t[item.ID] = toolCallOf(item.Server, item.Tool, item.Arguments)
}

func (t toolCalls) completed(item appserver.Item) {
	if item.Type == appserver.ItemMcpToolCall {
		delete(t, item.ID)
	}
}

func (t toolCalls) has(server, tool string, arguments json.RawMessage) bool {
	wanted := toolCallOf(server, tool, arguments)
	for _, one := range t {
		if one == wanted {
			return true
		}
	}
	return false
}
