package agent

import "encoding/json"

// A Kind is what an [Item] is. The kinds of tools are the names that metrics have for them.
type Kind string

// The kinds of items.
const (
	KindMessage    Kind = "message"
	KindReasoning  Kind = "reasoning"
	KindPlan       Kind = "plan"
	KindCompaction Kind = "compaction" // the history was summarised

	KindCommand    Kind = "command"
	KindFileChange Kind = "file_change"
	KindMCP        Kind = "mcp"       // a call of a tool of an MCP server
	KindTool       Kind = "workspace" // a call of a tool that this program offers
	KindWebSearch  Kind = "web_search"
	KindOther      Kind = "other" // whatever else an agent may come to do
)

// IsTool reports whether an item of this kind may have changed something outside the
// conversation.
func (k Kind) IsTool() bool {
	switch k {
	case KindMessage, KindReasoning, KindPlan, KindCompaction:
		return false
	}
	return true
}

// The phases of a message of the agent. An empty phase is unknown, not final.
const (
	PhaseCommentary  = "commentary"
	PhaseFinalAnswer = "final_answer"
)

// An Item is one thing that a turn says or does. Which fields are set depends on Kind.
type Item struct {
	ID   string
	Kind Kind
	Name string // what the agent itself calls the kind

	Text    string   // KindMessage, KindPlan
	Phase   string   // KindMessage
	Summary []string // KindReasoning

	Status     string // of tools: inProgress, completed, failed, declined
	DurationMs int64  // likewise
	Output     string // likewise: what a command has written, or the texts that came of a call

	Command  string // KindCommand, as are the next two
	Cwd      string
	ExitCode *int // nil if there is none

	Changes []Change // KindFileChange

	Server    string          // KindMCP
	Tool      string          // KindMCP, KindTool
	Arguments json.RawMessage // likewise: of the call
	Error     string          // KindMCP: why it could not be made

	Query string // KindWebSearch

	Picture []byte // KindOther: that was made; nil if none was
}

// A Change is one file of a KindFileChange.
type Change struct {
	Path, To string // To is its further name; empty if it keeps the one it has
	Kind     string // add, delete, update
	Diff     string // unified
}

// Subject is what a tool is about: a command, the paths of changes, the arguments of a call,
// or a query.
func (i Item) Subject() string {
	switch i.Kind {
	case KindCommand:
		return i.Command
	case KindMCP, KindTool:
		return string(i.Arguments)
	case KindWebSearch:
		return i.Query
	}
	return ""
}
