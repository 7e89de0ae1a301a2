package codex

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/inquiry"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/items"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/place"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/told"
)

// A turn is one running turn. It belongs to the goroutine that serves its
// conversation; only its attention is touched from elsewhere.
type turn struct {
	executor.Order
	d         *Driver
	c         *conversation
	on        *child.Child
	at        place.Place // where its commands run; nil is this machine
	id        string
	afresh    told.Freshness
	before    briefing // what its conversation had been told of before it
	record    items.Record
	attention *attention
	inquiry   *inquiry.Inquiry
	timers    *executor.Timers
	// unanswered are the questions that were open at its end, as far as the observer
	// knows.
	unanswered []string
	unreadable bool              // the provider has refused to read what it was asked last
	httpStatus int               // of that or another failure; 0 if there was none
	idle       bool              // the thread says that it does nothing
	doubted    time.Time         // since when the history has called it interrupted; zero if it does not
	stopping   error             // why codex was asked to end the turn; nil while it was not
	severed    bool              // a tool was open when it was asked that
	broken     bool              // a command has failed without an end of its own
	opened     bool              // its first message was seen
	foreign    bool              // that was not the job's
	limited    *executor.Refusal // the rate limit that codex waits out; nil once the model answers
	asked      int               // bytes of what it has asked
	unsure     bool              // codex may ask another model for it: see [executor.Refusal.Alone]
	// behindOther says that a turn before it has named another model, and the model has not answered since.
	behindOther bool
	unheeded    []string          // messages that were added to the turn, and the model has not answered since
	refused     *executor.Refusal // why the turn failed, if the model refused it
	shortened   shortening
}

// A cutError reports an attempt that the child's death has cut.
type cutError struct{ error }

func (e cutError) Unwrap() error { return e.error }

// newTurn returns a turn that is about to begin on the thread of c.
func (d *Driver) newTurn(c *conversation, of executor.Order, on *child.Child) *turn {
	t := &turn{Order: of, d: d, c: c, on: on, at: c.place, unsure: c.resumable && c.ran != c.own.model, behindOther: c.named, record: items.NewRecord(), attention: newAttention()}
	t.inquiry = d.desk.Open(c.threadID, of, func() { t.attention.raise(wakeQuestion) })
	return t
}

// callContext bounds a call that must be made although the job was canceled.
func (t *turn) callContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), t.d.cfg.Grace)
}

// turns reads the newest turns of the thread with all their items.
func (t *turn) turns() ([]appserver.Turn, error) {
	ctx, cancel := t.callContext()
	defer cancel()
	return t.on.TurnsList(ctx, t.c.threadID, 3, true)
}

// hasRead notes that the model has read what it was asked, with all that is before it.
func (t *turn) hasRead() {
	t.c.read, t.c.unread, t.c.named = t.id, "", false
	t.c.blocked.Store(false)
}

// answered notes that the model answers.
func (t *turn) answered() {
	if t.limited != nil {
		t.limited = nil
		t.attention.after(0, timerLimit)
	}
}

// summary is the end of the turn without its outcome.
func (t *turn) summary() agent.Ended {
	return agent.Ended{Messages: t.record.Messages, Diff: t.record.Diff, Usage: t.record.Usage}
}

// HasWorked implements [executor.Turn]: it reports whether a tool of the turn started. A command may run before
// codex says so on stdout, but not before it has written it down.
func (t *turn) HasWorked() bool {
	if t.record.Tools() {
		return true
	}
	trace, err := t.d.cfg.ReadTrace(t.c.rollout, t.ClientID())
	if errors.Is(err, fs.ErrNotExist) { // codex makes the file before it asks the model
		return false
	}
	return err != nil || trace.Tool
}
