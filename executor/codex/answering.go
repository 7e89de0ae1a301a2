package codex

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/ask"
)

func (in *inquiry) find(id string) *question {
	in.mu.Lock()
	defer in.mu.Unlock()
	i := slices.IndexFunc(in.posed, func(q *question) bool { return q.id == id })
	if i < 0 {
		return nil
	}
	return in.posed[i]
}

// A response is what codex is to be told, once the turn has a slot to go on with.
type response struct {
	ask.Reply
	note string // why it is no answer of a person's, which the observer has been told; empty if it is one
	kept bool   // its sender was told that it waits; the turn's own
}

// Answer implements [executor.Driver]: it finds the question that an answer is to, and gives it to the turn.
func (d *Driver) Answer(jobID string, a agent.Answer) error {
	open := d.openInquiries()
	i := slices.IndexFunc(open, func(in *inquiry) bool { return in.Job == jobID })
	if i < 0 {
		return executor.ErrNotAsked
	}
	in := open[i]
	q := in.find(a.Question)
	if q == nil {
		return executor.ErrNotAsked
	}
	if q.isLate() {
		d.expire(in, q)
		return executor.ErrNotAsked
	}
	posed := q.posed.Load()
	if posed == nil { // the id was guessed
		return executor.ErrNotAsked
	}
	reply, err := posed.Answer(a)
	if err != nil {
		return err
	}
	reply.Ends = reply.Ends && q.req.ThreadID == in.threadID // a subagent's turn ends alone
	if !in.give(q, response{Reply: reply}) {                 // expired over it
		return executor.ErrNotAsked
	}
	return nil
}

// give answers a question, and reports whether it was open. The turn hands the answer
// to codex.
func (in *inquiry) give(q *question, r response) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if q.given != nil || !in.removeLocked(q) {
		return false
	}
	if r.note != "" && q.id != "" {
		in.news = append(in.news, agent.Answered{ID: q.id, Note: r.note})
	}
	q.given = &r
	in.given = append(in.given, q)
	in.wake()
	return true
}

// answers are those that codex does not have yet.
func (in *inquiry) answers() []*question {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Clone(in.given)
}

// handOver takes an answer that codex is about to get, and reports whether it was
// still there, and goes to what was asked.
func (in *inquiry) handOver(q *question) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.twice {
		return false
	}
	in.off = in.off || q.given.Ends
	return in.removeLocked(q)
}

// resolved settles a question that codex needs no answer to any more.
func (d *Driver) resolved(note appserver.Notification) {
	var n struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(note.Params, &n) != nil {
		return
	}
	own := d.inquiryOf(note.ThreadID)
	for _, in := range d.openInquiries() {
		if q := in.withdraw(n.RequestID, in == own); q != nil && in.settle(q) {
			d.decline(q.req, q.asks, errWithdrawn.Error())
			close(q.settled)
		}
	}
}

func (d *Driver) openInquiries() []*inquiry {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Values(d.inquiries))
}

// withdraw returns the open question of a request's id. Requests and notifications come
// here by ways of their own: one of the thread's own that is not here yet is not asked
// any more.
func (in *inquiry) withdraw(requestID []byte, own bool) *question {
	in.mu.Lock()
	defer in.mu.Unlock()
	key := requestKey(requestID)
	for _, q := range slices.Concat(in.posed, in.fresh, in.given) {
		if requestKey(q.req.ID) == key {
			return q
		}
	}
	if own {
		in.gone[key] = true
	}
	return nil
}

func requestKey(id []byte) string { return string(bytes.TrimSpace(id)) }
