package codex

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/inquiry"
)

// askerOf returns the attempt whose turn asks, also where a subagent of it does. It is nil if that
// turn does not run, and why says so. What names no turn is of the one that runs, and a form of an
// MCP server's own names that one whichever has called the server (seen on 0.169.0).
func (d *Driver) askerOf(ctx context.Context, req *appserver.Request) (in *inquiry.Inquiry, why string) {
	if in = d.desk.Of(req.ThreadID); in == nil { // not even where everything is allowed: a subagent may go on that is to have less
		return nil, "no turn of ours runs on its thread"
	}
	var of struct {
		TurnID string `json:"turnId"`
	}
	if err := json.Unmarshal(req.Params, &of); err != nil || of.TurnID != "" && of.TurnID != d.turnOn(ctx, in, req.ThreadID) {
		return nil, "its turn has ended"
	}
	return in, ""
}

// turnOn is the turn that runs on the thread of in, or on that of a subagent of it; empty if there
// is none. One that is just being started is waited for: codex may ask before it has said which
// it is.
func (d *Driver) turnOn(ctx context.Context, in *inquiry.Inquiry, threadID string) string {
	if threadID != in.ThreadID {
		return d.desk.TurnOfAgent(threadID)
	}
	ctx, cancel := context.WithTimeout(ctx, d.cfg.Patience)
	defer cancel()
	return in.Turn(ctx)
}

// await puts a question to its turn and waits until codex is answered. Without an
// answer in time it is declined.
func (d *Driver) await(ctx context.Context, in *inquiry.Inquiry, q *inquiry.Question) {
	leave, ok := d.host.AdmitMute(in.Job, in)
	if !ok {
		in.Unheard()
		d.decline(q.Req, q.Asks, "answers of the message's sender are not taken, and no more such turns may wait for those of others")
		return
	}
	defer leave()
	if err := in.Add(q); err != nil {
		d.decline(q.Req, q.Asks, err.Error())
		return
	}
	d.log.Info("codex asks", "method", q.Req.Method, "thread_id", q.Req.ThreadID, "job", in.Job)
	in.Wait(ctx, q)
}

// Answer implements [executor.Driver]: it finds the question that an answer is to, and gives it to the turn.
func (d *Driver) Answer(jobID string, a agent.Answer) error {
	open := d.desk.All()
	i := slices.IndexFunc(open, func(in *inquiry.Inquiry) bool { return in.Job == jobID })
	if i < 0 {
		return executor.ErrNotAsked
	}
	return open[i].Answer(a)
}
