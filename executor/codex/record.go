package codex

import (
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// A record is what a turn has shown so far, as far as its end needs it.
type record struct {
	messages []agent.Message
	spoken   int                               // messages that have begun
	commands map[string]bool                   // ids of the tool items that this turn began
	open     map[call]bool                     // those that have not ended
	strays   map[string]bool                   // ids of those that scripts of earlier turns have begun in this one
	changes  map[string][]appserver.FileChange // of the file changes among them
	calls    toolCalls
	diff     string
	usage    agent.Usage
	gap      bool // something was dropped on the way: repair from the history
}

func newRecord() record {
	return record{commands: map[string]bool{}, open: map[call]bool{}, strays: map[string]bool{}, changes: map[string][]appserver.FileChange{}, calls: toolCalls{}}
}

// started reports whether the item has the id of another that is open and may be taken for it.
func (r *record) started(item appserver.Item) (twice bool) {
	if item.Type.IsTool() {
		begun := call{item.Type, item.ID}
		twice = r.open[begun] && begun.isAsked()
		r.commands[item.ID], r.open[begun] = true, true
	}
	if item.Type == appserver.ItemFileChange {
		r.changes[item.ID] = item.Changes
	}
	r.calls.started(item)
	return twice
}

func (r *record) completed(item appserver.Item) {
	if item.Type.IsTool() {
		r.commands[item.ID] = true
		delete(r.open, call{item.Type, item.ID})
	}
	if item.Type == appserver.ItemFileChange {
		delete(r.changes, item.ID)
	}
	r.calls.completed(item)
	r.keep(item)
}

// keep takes an agent message over, in place of what is there under its id.
func (r *record) keep(item appserver.Item) {
	if item.Type != appserver.ItemAgentMessage || len(item.ID) > mostOfID {
		return
	}
	message := agent.Message{ItemID: item.ID, Text: item.Text, Phase: item.Phase}
	i := slices.IndexFunc(r.messages, func(m agent.Message) bool { return m.ItemID == item.ID })
	if i < 0 {
		r.messages = append(r.messages, message)
		return
	}
	r.messages[i] = message
}

func (r *record) tools() bool               { return len(r.commands) > 0 }
func (r *record) toolsOpen() bool           { return len(r.open) > 0 }
func (r *record) opened(itemID string) bool { return r.commands[itemID] }

// count adds the usage of one model call of the turn.
func (r *record) count(u appserver.TokenUsage) {
	r.usage.InputTokens += u.InputTokens
	r.usage.CachedInputTokens += u.CachedInputTokens
	r.usage.OutputTokens += u.OutputTokens
	r.usage.ReasoningOutputTokens += u.ReasoningOutputTokens
	r.usage.TotalTokens += u.TotalTokens
}
