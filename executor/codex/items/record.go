package items

import (
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// A Record is what a turn has shown so far, as far as its end needs it.
type Record struct {
	Messages []agent.Message
	spoken   int                               // messages that have begun
	Commands map[string]bool                   // ids of the tool items that this turn began
	Open     map[Call]bool                     // those that have not ended
	Strays   map[string]bool                   // ids of those that scripts of earlier turns have begun in this one
	Changes  map[string][]appserver.FileChange // of the file changes among them
	Calls    Calls
	Diff     string
	Usage    agent.Usage
	Gap      bool // something was dropped on the way: repair from the history
}

// NewRecord returns that of a turn which has shown nothing.
func NewRecord() Record {
	return Record{Commands: map[string]bool{}, Open: map[Call]bool{}, Strays: map[string]bool{}, Changes: map[string][]appserver.FileChange{}, Calls: Calls{}}
}

// Started reports whether the item has the id of another that is open and may be taken for it.
func (r *Record) Started(item appserver.Item) (twice bool) {
	if item.Type.IsTool() {
		begun := CallOf(item)
		twice = r.Open[begun] && begun.IsAsked()
		r.Commands[item.ID], r.Open[begun] = true, true
	}
	if item.Type == appserver.ItemFileChange {
		r.Changes[item.ID] = item.Changes
	}
	r.Calls.Started(item)
	return twice
}

// Completed takes over what an item was that has ended.
func (r *Record) Completed(item appserver.Item) {
	if item.Type.IsTool() {
		r.Commands[item.ID] = true
		delete(r.Open, CallOf(item))
	}
	if item.Type == appserver.ItemFileChange {
		delete(r.Changes, item.ID)
	}
	r.Calls.Completed(item)
	r.Keep(item)
}

// Keep takes an agent message over, in place of what is there under its id.
func (r *Record) Keep(item appserver.Item) {
	if item.Type != appserver.ItemAgentMessage || len(item.ID) > MostID {
		return
	}
	message := agent.Message{ItemID: item.ID, Text: item.Text, Phase: item.Phase}
	i := slices.IndexFunc(r.Messages, func(m agent.Message) bool { return m.ItemID == item.ID })
	if i < 0 {
		r.Messages = append(r.Messages, message)
		return
	}
	r.Messages[i] = message
}

// Tools reports whether a tool of the turn has begun.
func (r *Record) Tools() bool { return len(r.Commands) > 0 }

// ToolsOpen reports whether one of them has not ended.
func (r *Record) ToolsOpen() bool { return len(r.Open) > 0 }

// Opened reports whether the turn has begun a tool by an id.
func (r *Record) Opened(itemID string) bool { return r.Commands[itemID] }

// Count adds the usage of one model call of the turn.
func (r *Record) Count(u appserver.TokenUsage) {
	r.Usage.InputTokens += u.InputTokens
	r.Usage.CachedInputTokens += u.CachedInputTokens
	r.Usage.OutputTokens += u.OutputTokens
	r.Usage.ReasoningOutputTokens += u.ReasoningOutputTokens
	r.Usage.TotalTokens += u.TotalTokens
}

// MostID is how long the id of an item may be, which is kept with all that is told of it. codex's
// own have some 40 bytes; those of messages and calls are the endpoint's, and some put a signature of
// some KiB into it.
const MostID = 16 << 10

// Spoke counts the messages that have begun, or come to their end without, and returns how
// many there are.
func (r *Record) Spoke(item appserver.Item, started bool) int {
	if item.Type == appserver.ItemAgentMessage && started {
		r.spoken++
	}
	return max(r.spoken, len(r.Messages))
}
