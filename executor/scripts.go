package executor

import (
	"context"
	"encoding/json"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// Codex has the model call tools from scripts ("code mode", of gpt-5.6 and later). A script that
// has yielded outlives its turn: it stands still, and goes on in the next turn of its thread.
// What it begins there has the sandbox, the policy and the id of its own turn, but tools of MCP
// servers are asked about as the turn has it that runs (seen on 0.169.0). So scripts end where
// a turn may do more or less than the one before ([Executor.regrant] unloads the thread), and
// between turns that may do the same what a script asks is declined: whoever sent the message
// that runs has not sent its own.

// askerOf returns the attempt whose turn asks, also where a subagent of it does. It is nil if that
// turn does not run, and why says so. A turn that is about to begin is waited for. What names no
// turn is of the one that runs.
func (e *Executor) askerOf(ctx context.Context, req *appserver.Request) (in *inquiry, why string) {
	if in = e.inquiryOf(req.ThreadID); in == nil { // not even where everything is allowed: a subagent may go on that is to have less
		return nil, "no turn of ours runs on its thread"
	}
	var of struct {
		TurnID string `json:"turnId"`
	}
	if json.Unmarshal(req.Params, &of) != nil || of.TurnID != "" && of.TurnID != e.turnOn(ctx, in, req.ThreadID) {
		return nil, "its turn has ended"
	}
	return in, ""
}

// turnOn is the turn that runs on the thread of in, or on that of a subagent of it.
func (e *Executor) turnOn(ctx context.Context, in *inquiry, threadID string) string {
	if threadID != in.threadID {
		e.mu.Lock()
		defer e.mu.Unlock()
		if one := e.agents.at[threadID]; one != nil {
			return one.turn
		}
		return ""
	}
	select {
	case <-in.known:
	case <-in.calls.Done():
	case <-ctx.Done():
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.turnID
}

// stray shows what a script of an earlier turn does while this one runs: it stands in no other.
func (t *turn) stray(started bool, item appserver.Item) {
	switch {
	case started && item.Type.IsTool():
		t.record.strays[item.ID] = true
		t.job.observe(ItemStarted{Item: item})
	case !started && t.record.strays[item.ID]:
		delete(t.record.strays, item.ID)
		t.job.observe(ItemCompleted{Item: item})
	}
}
