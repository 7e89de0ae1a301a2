package inquiry

import (
	"sync/atomic"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/ask"
)

// A Question is one request of codex that waits for a person.
type Question struct {
	Req      *appserver.Request
	Asks     ask.Request
	Deadline time.Time                 // zero: none
	Settled  chan struct{}             // closed when codex was answered
	Posed    atomic.Pointer[ask.Posed] // nil until it is about to be put to the observer

	// Guarded by Inquiry.mu until the turn has it from [Inquiry.Take] or [Inquiry.Answers].
	ID    string    // given when it is put to the observer
	Given *Response // nil while it is open
}

// NewQuestion returns one that was not asked yet.
func NewQuestion(req *appserver.Request, asks ask.Request) *Question {
	return &Question{Req: req, Asks: asks, Settled: make(chan struct{})}
}

// isLate reports whether the time that a question names is over. Of a machine that has slept the timer knows
// nothing of that.
func (q *Question) isLate() bool {
	return !q.Deadline.IsZero() && !time.Now().Round(0).Before(q.Deadline.Round(0))
}

// Untold reports whether the observer takes the question for open.
func (q *Question) Untold() bool { return q.ID != "" && (q.Given == nil || q.Given.Note == "") }

// A Response is what codex is to be told, once the turn has a slot to go on with.
type Response struct {
	ask.Reply
	Note string // why it is no answer of a person's, which the observer has been told; empty if it is one
	Kept bool   // its sender was told that it waits; the turn's own
}
