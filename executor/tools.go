package executor

import (
	"context"
	"encoding/json"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// A ToolCaller carries out the calls of tools that [Config.Thread] offers. Call is
// called concurrently, on a goroutine for each call, and must return soon after
// ctx ends: with the turn that has called, with the child, or at a deadline.
type ToolCaller interface {
	Call(ctx context.Context, call ToolCall) ToolResult
}

// A ToolCall is a call of one of our tools by codex.
type ToolCall struct {
	ID        string // unique within its thread
	Thread    string // also that of a subagent
	Turn      string
	Context   string // [Job.Context] of the job that the turn belongs to
	Job       string // its ID
	Tool      string
	Arguments json.RawMessage // whatever the model has written; a JSON value
}

// A ToolResult is what the model reads.
type ToolResult struct {
	Text   string
	Failed bool
}

// callTool carries out a call, on the goroutine of its request. Whatever happens it
// is answered: the turn waits for it.
func (e *Executor) callTool(ctx context.Context, req *appserver.Request) {
	began := time.Now()
	call, result := e.resultOf(ctx, req)
	err := req.Reply(appserver.ToolCallResult{
		Success: !result.Failed, Content: []appserver.ToolCallContent{{Type: "inputText", Text: result.Text}},
	})
	e.log.Info("codex has called a tool", "tool", call.Tool, "thread_id", req.ThreadID, "failed", result.Failed,
		"took", time.Since(began), "err", err)
}

func (e *Executor) resultOf(ctx context.Context, req *appserver.Request) (call ToolCall, result ToolResult) {
	var params appserver.ToolCallParams
	if err := json.Unmarshal(req.Params, &params); err != nil {
		return call, ToolResult{Text: "Error: the call could not be read", Failed: true}
	}
	call = ToolCall{ID: params.CallID, Thread: params.ThreadID, Turn: params.TurnID, Tool: params.Tool, Arguments: params.Arguments}
	in := e.inquiryOf(params.ThreadID)
	switch {
	case e.cfg.Tools == nil:
		return call, ToolResult{Text: "Error: this tool is not offered by the runtime any more", Failed: true}
	case in == nil:
		return call, ToolResult{Text: "Error: no turn of the runtime runs on this thread", Failed: true}
	}
	call.Context, call.Job = in.job.Context, in.job.ID
	c := e.enterCall(call)
	defer e.noteCall(c, call.ID, call.Tool, false)
	ctx, cancel := context.WithTimeout(ctx, e.cfg.ToolTimeout)
	defer cancel()
	defer context.AfterFunc(in.calls, cancel)()
	return call, e.cfg.Tools.Call(ctx, call)
}

// enterCall notes that a call has begun, and in which conversation; that is nil if
// it has just ended.
func (e *Executor) enterCall(call ToolCall) *conversation {
	e.mu.Lock()
	c := e.conversations[call.Context]
	e.mu.Unlock()
	e.noteCall(c, call.ID, call.Tool, true)
	return c
}

// noteCall notes that a call of a tool has begun or ended; c may be nil.
func (e *Executor) noteCall(c *conversation, id, tool string, begun bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case c == nil:
	case !begun:
		delete(c.calls, id)
	case c.current != nil:
		if c.calls == nil {
			c.calls = map[string]string{}
		}
		c.calls[id] = tool
	}
}

// Calls reports whether the turn that runs in a context waits for the end of a call
// of a tool of that name: one of ours, or of an MCP server.
func (e *Executor) Calls(key, tool string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c := e.conversations[key]; c != nil {
		for _, name := range c.calls {
			if name == tool {
				return true
			}
		}
	}
	return false
}
