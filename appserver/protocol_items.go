package appserver

import (
	"encoding/json"
	"strings"
)

// An ItemType names the kind of a thread item. Unknown kinds appear with new
// versions of codex and must be expected.
type ItemType string

// The item kinds that the runtime treats by name.
const (
	ItemUserMessage       ItemType = "userMessage"
	ItemHookPrompt        ItemType = "hookPrompt"
	ItemAgentMessage      ItemType = "agentMessage"
	ItemReasoning         ItemType = "reasoning"
	ItemPlan              ItemType = "plan"
	ItemCommandExecution  ItemType = "commandExecution"
	ItemFileChange        ItemType = "fileChange"
	ItemMcpToolCall       ItemType = "mcpToolCall"
	ItemDynamicToolCall   ItemType = "dynamicToolCall"
	ItemWebSearch         ItemType = "webSearch"
	ItemImageGeneration   ItemType = "imageGeneration"
	ItemContextCompaction ItemType = "contextCompaction"
	ItemSubAgentActivity  ItemType = "subAgentActivity"
)

// IsTool reports whether an item of this kind may have changed something
// outside the conversation. Unknown kinds count as tools.
func (t ItemType) IsTool() bool {
	switch t {
	case ItemUserMessage, ItemHookPrompt, ItemAgentMessage, ItemReasoning, ItemPlan, ItemContextCompaction:
		return false
	}
	return true
}

// HasNoEnd reports whether an item is a command that has failed and did not exit: it could not be started, or was lost
// with where it ran. codex gives it the code -1 (seen on 0.169.0).
func (i Item) HasNoEnd() bool {
	return i.Type == ItemCommandExecution && i.Status == "failed" && (i.ExitCode == nil || *i.ExitCode < 0)
}

// IsModels reports whether an item is an answer of the model's, which then has read all that stands before
// it. A thought is none, as the provider may still refuse the request. codex itself says that a subagent has
// ended, in the turn after that: only the id tells such an item from the model's own (seen on 0.169.0).
func (i Item) IsModels() bool {
	switch i.Type {
	case ItemUserMessage, ItemHookPrompt, ItemReasoning, ItemContextCompaction:
		return false
	case ItemSubAgentActivity:
		return !strings.HasPrefix(i.ID, "subagent-completed-")
	}
	return true
}

// The phases of an agent message. Providers do not emit them consistently: an
// empty phase is unknown, not final.
const (
	PhaseCommentary  = "commentary"
	PhaseFinalAnswer = "final_answer"
)

// An Item is one entry of a turn. Which fields are set depends on Type.
type Item struct {
	Type ItemType `json:"type"`
	ID   string   `json:"id"`

	ClientID string `json:"clientId,omitempty"` // userMessage: the clientUserMessageId of its turn/start or turn/steer

	Text  string `json:"text,omitempty"`  // agentMessage, plan
	Phase string `json:"phase,omitempty"` // agentMessage

	Summary []string `json:"summary,omitempty"` // reasoning

	Command          string `json:"command,omitempty"` // commandExecution, as are the next five
	Cwd              string `json:"cwd,omitempty"`
	ProcessID        string `json:"processId,omitempty"`
	ExitCode         *int   `json:"exitCode,omitempty"`
	AggregatedOutput string `json:"aggregatedOutput,omitempty"`
	DurationMs       int64  `json:"durationMs,omitempty"` // also of tool calls

	Status string `json:"status,omitempty"` // inProgress, completed, failed, declined

	Changes []FileChange `json:"changes,omitempty"` // fileChange

	Server string `json:"server,omitempty"` // mcpToolCall
	Tool   string `json:"tool,omitempty"`   // mcpToolCall, dynamicToolCall

	Arguments    json.RawMessage `json:"arguments,omitempty"`    // of such a call
	ContentItems json.RawMessage `json:"contentItems,omitempty"` // dynamicToolCall: what came of it
	Result       json.RawMessage `json:"result,omitempty"`       // mcpToolCall: the same; imageGeneration: the picture
	Error        json.RawMessage `json:"error,omitempty"`        // mcpToolCall: why it could not be made

	Query string `json:"query,omitempty"` // webSearch
}

// Picture is the content of the picture that an item has made; nil if it has made none.
func (i Item) Picture() []byte {
	var content []byte
	if i.Type != ItemImageGeneration || json.Unmarshal(i.Result, &content) != nil {
		return nil
	}
	return content
}

// A FileChange is one file of a patch.
type FileChange struct {
	Path string `json:"path"`
	Diff string `json:"diff"` // unified
	Kind struct {
		Type     string `json:"type"`                // add, delete, update
		MovePath string `json:"move_path,omitempty"` // of an update that gives the file another name
	} `json:"kind"`
}
