package codex

import (
	"encoding/json"
	"fmt"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
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

// decline answers codex by no.
func (d *Driver) decline(req *appserver.Request, asks ask.Request, why string) {
	err := req.Reply(asks.Refusal())
	d.log.Info("what codex asked was declined", "method", req.Method, "thread_id", req.ThreadID, "why", why, "err", err)
}

// withdraw tells the observer that the answers are not needed any more, and why,
// where the job goes on after the turn.
func (t *turn) withdraw(why string) {
	t.endQuestions()
	for _, id := range t.unanswered {
		t.To.Tell(agent.Answered{ID: id, Note: why})
	}
	t.unanswered = nil
}

// endQuestions declines what is still asked when the turn has ended, and tells of what was
// declined before: codex may have ended the turn at once.
func (t *turn) endQuestions() {
	t.tellExceeded()
	t.unanswered = append(t.unanswered, t.d.closeInquiry(t.inquiry)...)
}

// tellExceeded tells the observer how many questions were declined for their number.
func (t *turn) tellExceeded() {
	if n := t.inquiry.Exceeded(); n > 0 {
		t.To.Tell(agent.Notice{Text: fmt.Sprintf(tooManyAsked, n, t.inquiry.Bounds.Most)})
	}
	if n := t.inquiry.ExceededMute(); n > 0 {
		t.To.Tell(agent.Notice{Text: t.d.host.MuteNotice(n)})
	}
}

// tooManyAsked is what the sender of a message reads whose turn asks too much at once.
const tooManyAsked = "Questions that were declined, for too many are open in this context already: %d. " +
	"At most %d may be (RUNTIME_MAX_CONTEXT_QUESTIONS); answer those that are open."
