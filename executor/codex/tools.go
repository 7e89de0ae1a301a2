package codex

import (
	"context"
	"encoding/json"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// toolAnswer is a result in codex's words.
func toolAnswer(r agent.ToolResult) appserver.ToolCallResult {
	return appserver.ToolCallResult{Success: !r.Failed, Content: []appserver.ToolCallContent{{Type: "inputText", Text: r.Text}}}
}

// callTool carries out a call, on the goroutine of its request. Whatever happens it
// is answered: the turn waits for it.
func (d *Driver) callTool(ctx context.Context, req *appserver.Request) {
	began := time.Now()
	call, result := d.resultOf(ctx, req)
	err := req.Reply(toolAnswer(result))
	d.log.Info("codex has called a tool", "tool", call.Tool, "thread_id", req.ThreadID, "failed", result.Failed,
		"took", time.Since(began), "err", err)
}

func (d *Driver) resultOf(ctx context.Context, req *appserver.Request) (call agent.ToolCall, result agent.ToolResult) {
	var params appserver.ToolCallParams
	if err := json.Unmarshal(req.Params, &params); err != nil {
		return call, agent.ToolResult{Text: "Error: the call could not be read", Failed: true}
	}
	call = agent.ToolCall{ID: params.CallID, Thread: params.ThreadID, Turn: params.TurnID, Tool: params.Tool, Arguments: params.Arguments}
	if d.cfg.Tools == nil {
		return call, agent.ToolResult{Text: "Error: this tool is not offered by the runtime any more", Failed: true}
	}
	in, _ := d.askerOf(ctx, req)
	if in == nil {
		return call, agent.ToolResult{Text: "Error: the turn that has called this tool runs no more; call it in the one that runs", Failed: true}
	}
	call.Context, call.Job = in.Conversation, in.Job
	ctx, cancel := context.WithTimeout(ctx, d.cfg.ToolTimeout)
	defer cancel()
	defer context.AfterFunc(in.Calls, cancel)()
	return call, d.cfg.Tools.Call(ctx, call)
}
