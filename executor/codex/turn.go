package codex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/inquiry"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/items"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/sandbox"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/told"
)

// A turn is one running turn. It belongs to the goroutine that serves its
// conversation; only its attention is touched from elsewhere.
type turn struct {
	executor.Order
	d         *Driver
	c         *conversation
	on        *child.Child
	id        string
	afresh    told.Freshness
	before    briefing // what its conversation had been told of before it
	record    items.Record
	attention *attention
	inquiry   *inquiry.Inquiry
	clock     clock
	// unanswered are the questions that were open at its end, as far as the observer
	// knows.
	unanswered []string
	unreadable bool              // the provider has refused to read what it was asked last
	httpStatus int               // of that or another failure; 0 if there was none
	idle       bool              // the thread says that it does nothing
	doubted    time.Time         // since when the history has called it interrupted; zero if it does not
	stopping   error             // why codex was asked to end the turn; nil while it was not
	opened     bool              // its first message was seen
	foreign    bool              // that was not the job's
	limited    *executor.Refusal // the rate limit that codex waits out; nil once the model answers
	asked      int               // bytes of what it has asked
	unsure     bool              // codex may ask another model for it: see refusal.alone
	// behindOther says that a turn before it has named another model, and the model has not answered since.
	behindOther bool
	refused     *executor.Refusal // why the turn failed, if the model refused it
	shortened   shortening
}

// A cutError reports an attempt that the child's death has cut.
type cutError struct{ error }

func (e cutError) Unwrap() error { return e.error }

// ready gets the thread of c ready for a turn that asks for o.
func (d *Driver) ready(ctx context.Context, c *conversation, o agent.Options, on *child.Child) error {
	d.renew(c)
	if err := errors.Join(d.cfg.Child.User.Do(func() error { return wish(sandbox.Stands(o.Cwd)) }), wish(d.guard.ApartFor(o, placesOf(on.Launch)))); err != nil {
		return err
	}
	c.folder = cmp.Or(o.Cwd, d.cfg.Thread.Cwd)
	if err := d.regrant(ctx, c, o, on); err != nil {
		return on.Settled(err)
	}
	d.emptyQueue(ctx, c, on)
	if err := d.load(ctx, c, on); err != nil {
		return on.Settled(err)
	}
	d.endUnbidden(c, on)
	d.clearLate(ctx, c, on)
	return on.Settled(d.load(ctx, c, on)) // that may have unloaded it
}

// startTurn has codex begin a turn on the thread of c.
func (d *Driver) startTurn(c *conversation, of executor.Order, on *child.Child) (t *turn, err error) {
	t = d.newTurn(c, of, on)
	t.afresh, t.before = c.fresh, c.briefing()
	if t.id, err = t.begin(); err != nil {
		d.closeInquiry(t.inquiry)
		t.attention.close()
		d.endUnbidden(c, on)
		return nil, on.Settled(err)
	}
	t.inquiry.Begun(t.id)
	d.bidden(c, t.id)
	c.unread = cmp.Or(c.fresh, c.unread)
	c.resumable, c.fresh = true, ""
	return t, nil
}

// newTurn returns a turn that is about to begin on the thread of c.
func (d *Driver) newTurn(c *conversation, of executor.Order, on *child.Child) *turn {
	t := &turn{Order: of, d: d, c: c, on: on, unsure: c.resumable && c.ran != c.own.model, behindOther: c.named, record: items.NewRecord(), attention: newAttention()}
	t.inquiry = d.desk.Open(c.threadID, of, func() { t.attention.raise(wakeQuestion) })
	return t
}

// begin hands the message to codex. The caller's
// cancel must not cut the call: codex may have taken the message, and then the
// turn is ended by an interrupt.
func (t *turn) begin() (id string, err error) {
	d, c, on := t.d, t.c, t.on
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Ctx), d.cfg.Patience)
	defer cancel()
	params := appserver.TurnStartParams{
		ThreadID: c.threadID, ClientUserMessageID: t.ClientID(), Input: items.Inputs(t.Input), Trace: appserver.TraceContext(t.Trace),
	}
	d.adjust(c, t.Options, on, &params)
	instructions, tells := d.brief(c, &params)
	if c.fresh != "" {
		addContext(&params, "runtime_notice", c.fresh.ToModel())
	}
	c.warn(&params)
	started, err := on.TurnStart(ctx, params)
	c.adjusted(t.Options, err)
	if c.otherThanRan(&params) {
		c.ran = "" // until it has ended well
	}
	if err == nil {
		c.named = c.named || c.otherModel(t.Options) != ""
		d.briefed(c, instructions, tells)
		c.strange.Told()
	}
	switch {
	case appserver.IsThreadGone(err):
		d.unloaded(c) // unloaded behind our back: the next load resumes it
	case errors.Is(err, context.DeadlineExceeded):
		on.Restart(child.ReasonDeaf)
		<-on.Done()
		err = on.Err()
	}
	if _, died := errors.AsType[*appserver.ExitError](err); died {
		err = cutError{err}
	}
	return started.ID, err
}

// read reads the events of the turn until it has ended. It returns a [cutError] if
// the child died and it is to be found out what became of the turn.
func (t *turn) read() (end *agent.Ended, err error) {
	defer func() { t.d.endBriefing(t.c, err) }()
	defer t.attention.close()
	defer t.c.remember(&t.record)
	defer t.endQuestions()
	stop := context.AfterFunc(t.Ctx, func() { t.attention.raise(context.Cause(t.Ctx)) })
	defer stop()
	t.clock = clock{left: t.d.cfg.TurnTimeout, on: t.d.cfg.TurnTimeout > 0}
	t.alive()
	for {
		note, err := t.c.events.Next(t.attention.context())
		switch {
		case err == nil:
			end = t.handle(note)
		case errors.Is(err, context.Canceled):
			end = t.decide(t.attention.take())
		default: // the child is gone, and all that it said has been read
			if end = t.died(err); end == nil {
				t.withdraw("codex has ended before it had the answer.")
				return nil, cutError{t.on.Settled(err)}
			}
		}
		if end != nil {
			return end, nil
		}
	}
}

// steerTimeout is how long codex may take to answer a turn/steer, which it does
// within milliseconds. Behind it the message is neither taken for arrived nor sent
// again: the thread's history says what became of it.
const steerTimeout = 5 * time.Second

// Steer implements [executor.Turn]. After an error that is none of codex's the thread's history says what
// became of the message.
func (t *turn) Steer(ctx context.Context, as executor.Attempt, input []agent.Input) error {
	ctx, cancel := context.WithTimeout(ctx, min(steerTimeout, t.d.cfg.Patience))
	defer cancel()
	err := t.on.TurnSteer(ctx, appserver.TurnSteerParams{
		ThreadID: t.c.threadID, ExpectedTurnID: t.id, Input: items.Inputs(input), ClientUserMessageID: as.ClientID(),
	})
	if _, refused := errors.AsType[*appserver.RPCError](err); refused {
		return fmt.Errorf("%w: %w", executor.ErrNotTaken, err)
	}
	return err
}
