package agent

import (
	"context"
	"encoding/json"
)

// A Tool is offered to the model of an agent by this program.
type Tool struct {
	Name, Description string
	Schema            json.RawMessage // of the arguments; a JSON object
}

// A ToolCall is a call of a tool that this program offers.
type ToolCall struct {
	ID        string // unique within its thread
	Thread    string // also that of a subagent
	Turn      string
	Context   string // the conversation of the message that the turn belongs to
	Job       string // the ID of that message
	Tool      string
	Arguments json.RawMessage // whatever the model has written; a JSON value
}

// A ToolResult is what the model reads.
type ToolResult struct {
	Text   string
	Failed bool
}

// A ToolCaller carries out the calls of tools of ours that an agent is offered. Call is
// called concurrently, on a goroutine for each call, and must return soon after
// ctx ends: with the turn that has called, with the agent, or at a deadline.
type ToolCaller interface {
	Call(ctx context.Context, call ToolCall) ToolResult
}
