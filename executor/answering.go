package executor

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
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

// Answer gives the answer to a question that a job has asked. A
// [NotUnderstoodError] leaves the question open, and the turn waiting. Any other
// error means that nobody waits for the answer any more.
func (e *Executor) Answer(jobID string, a Answer) error {
	e.record(RecordAnswer, RecordedAnswer{jobID, a})
	err := e.answer(jobID, a)
	e.unaccepted(a.ID, err)
	return err
}

func (e *Executor) answer(jobID string, a Answer) error {
	e.mu.Lock()
	j := e.jobs[jobID]
	var in *inquiry
	if j != nil {
		in = j.inquiry
	}
	e.mu.Unlock()
	if in == nil {
		return ErrNotAsked
	}
	q := in.find(a.Question)
	if q == nil {
		return ErrNotAsked
	}
	reply, err := q.matter.answer(a)
	if err != nil {
		return err
	}
	if !in.settle(q, "") { // expired over it
		return ErrNotAsked
	}
	defer close(q.settled)
	if reply.ends {
		in.callOff()
	}
	if err := q.req.Reply(reply.value); err != nil {
		return errors.Join(ErrNotAsked, err)
	}
	e.log.Info("codex was answered", "method", q.req.Method, "thread_id", q.req.ThreadID, "job", jobID)
	return nil
}

func (in *inquiry) callOff() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.off = true
}

// resolved settles a question that codex needs no answer to any more.
func (e *Executor) resolved(note appserver.Notification) {
	var n struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(note.Params, &n) != nil {
		return
	}
	own := e.inquiryOf(note.ThreadID)
	for _, in := range e.openInquiries() {
		if q := in.withdraw(n.RequestID, in == own); q != nil && in.settle(q, "") {
			e.decline(q.req, q.kind, errWithdrawn.Error())
			close(q.settled)
		}
	}
}

func (e *Executor) openInquiries() []*inquiry {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Collect(maps.Values(e.inquiries))
}

// withdraw returns the open question of a request's id. Requests and notifications come
// here by ways of their own: one of the thread's own that is not here yet is not asked
// any more.
func (in *inquiry) withdraw(requestID []byte, own bool) *question {
	in.mu.Lock()
	defer in.mu.Unlock()
	key := requestKey(requestID)
	for _, q := range append(slices.Clone(in.posed), in.fresh...) {
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
