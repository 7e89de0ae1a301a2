package codex

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/ask"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/inquiry"
)

// closeInquiry takes no more questions of an attempt and declines those that are open. It
// returns the ids of those that are open for all that the observer knows.
func (d *Driver) closeInquiry(in *inquiry.Inquiry) (posed []string) {
	left, posed := d.desk.Close(in)
	for _, q := range left {
		d.decline(q.Req, q.Asks, "the turn has ended")
		close(q.Settled)
	}
	return posed
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

// resolved settles a question that codex needs no answer to any more.
func (d *Driver) resolved(note appserver.Notification) {
	var n struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(note.Params, &n) != nil {
		return
	}
	own := d.desk.Of(note.ThreadID)
	for _, in := range d.desk.All() {
		if q := in.Withdraw(n.RequestID, in == own); q != nil && in.Settle(q) {
			d.decline(q.Req, q.Asks, inquiry.ErrWithdrawn.Error())
			close(q.Settled)
		}
	}
}

func (d *Driver) decline(req *appserver.Request, asks ask.Request, why string) {
	err := req.Reply(asks.Refusal())
	d.log.Info("what codex asked was declined", "method", req.Method, "thread_id", req.ThreadID, "why", why, "err", err)
}
