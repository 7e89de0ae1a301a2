package executor

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// A turn is one running turn. It belongs to the goroutine that serves its
// conversation; only its attention is touched from elsewhere.
type turn struct {
	e         *Executor
	c         *conversation
	job       *job
	on        *child
	id        string
	afresh    freshness
	before    briefing // what its conversation had been told of before it
	record    record
	attention *attention
	inquiry   *inquiry
	giveBack  func() // what codex has been lent for it
	clock     clock
	// unanswered are the questions that were open at its end, as far as the observer
	// knows.
	unanswered []string
	unreadable bool      // the provider has refused to read what it was asked last
	httpStatus int       // of that or another failure; 0 if there was none
	idle       bool      // the thread says that it does nothing
	doubted    time.Time // since when the history has called it interrupted; zero if it does not
	stopping   error     // why codex was asked to end the turn; nil while it was not
	opened     bool      // its first message was seen
	foreign    bool      // that was not the job's
	limited    *refusal  // the rate limit that codex waits out; nil once the model answers
	asked      int       // bytes of what it has asked
	unsure     bool      // codex may ask another model for it: see refusal.alone
	// behindOther says that a turn before it has named another model, and the model has not answered since.
	behindOther bool
	refused     *refusal // why the turn failed, if the model refused it
}

// A cutError reports an attempt that the child's death has cut.
type cutError struct{ error }

func (e cutError) Unwrap() error { return e.error }

// start gets the conversation's thread ready and begins an attempt on it.
func (e *Executor) start(c *conversation, j *job) (*turn, error) {
	if e.cfg.Mend != nil {
		e.cfg.Mend()
	}
	on, err := e.childFor(j)
	if err != nil {
		return nil, err
	}
	e.renew(c)
	if err := errors.Join(e.cfg.Child.User.Do(func() error { return stand(j.Options) }), e.apartFor(j.Options, on)); err != nil {
		return nil, err
	}
	c.folder = cmp.Or(j.Options.Cwd, e.cfg.Thread.Cwd)
	if err := e.regrant(j.ctx, c, j.Options, on); err != nil {
		return nil, on.settled(err)
	}
	e.emptyQueue(j.ctx, c, on)
	if err := e.load(j.ctx, c, on); err != nil {
		return nil, on.settled(err)
	}
	e.endUnbidden(c, on)
	e.clearLate(j.ctx, c, on)
	if err := e.load(j.ctx, c, on); err != nil { // that may have unloaded it
		return nil, on.settled(err)
	}
	t := e.newTurn(c, j, on)
	t.afresh, t.before = c.fresh, c.briefing()
	if t.id, err = e.startTurn(t); err != nil {
		t.giveBack()
		e.closeInquiry(c.threadID, t.inquiry)
		t.attention.close()
		e.endUnbidden(c, on)
		return nil, on.settled(err)
	}
	t.inquiry.begun(t.id)
	e.bidden(c, t.id)
	c.unread = cmp.Or(c.fresh, c.unread)
	c.resumable, c.fresh = true, ""
	return t, nil
}

// newTurn returns a turn that is about to begin on the thread of c.
func (e *Executor) newTurn(c *conversation, j *job, on *child) *turn {
	t := &turn{e: e, c: c, job: j, on: on, unsure: c.resumable && c.ran != c.own.model, behindOther: c.named, record: newRecord(), attention: newAttention(), giveBack: func() {}}
	t.inquiry = e.openInquiry(c.threadID, j, func() { t.attention.raise(wakeQuestion) })
	return t
}

// startTurn begins an attempt and hands the message to codex. The caller's
// cancel must not cut the call: codex may have taken the message, and then the
// turn is ended by an interrupt.
func (e *Executor) startTurn(t *turn) (id string, err error) {
	c, j, on := t.c, t.job, t.on
	if err := e.begin(c, j); err != nil {
		return "", err
	}
	params := appserver.TurnStartParams{ThreadID: c.threadID, ClientUserMessageID: j.attempt.clientID()}
	input, giveBack, err := e.lend(j.ctx, j)
	if t.giveBack = giveBack; err != nil {
		return "", err
	}
	params.Input = inputsFor(input)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(j.ctx), e.cfg.Patience)
	defer cancel()
	params.Trace = appserver.TraceContext(e.trace(j))
	e.adjust(c, j.Options, on, &params)
	instructions, tells := e.brief(c, &params)
	if c.fresh != "" {
		addContext(&params, "runtime_notice", c.fresh.toModel())
	}
	c.warn(&params)
	started, err := on.TurnStart(ctx, params)
	c.adjusted(j.Options, err)
	if c.otherThanRan(&params) {
		c.ran = "" // until it has ended well
	}
	if err == nil {
		c.named = c.named || c.otherModel(j.Options) != ""
		e.briefed(c, instructions, tells)
		c.strange.told()
	}
	switch {
	case appserver.IsThreadGone(err):
		e.unloaded(c) // unloaded behind our back: the next load resumes it
	case errors.Is(err, context.DeadlineExceeded):
		on.restart(reasonDeaf)
		<-on.Done()
		err = on.Err()
	}
	if _, died := errors.AsType[*appserver.ExitError](err); died {
		err = cutError{err}
	}
	return started.ID, err
}

// trace is what the attempt at j that begins is part of.
func (e *Executor) trace(j *job) agent.TraceContext {
	if e.cfg.Trace == nil {
		return j.Trace
	}
	return e.cfg.Trace(j.Job, j.attempt.N)
}

// causeOf prefers the reason why ctx ended to the error that its end caused.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// begun tells the observer that codex has taken the job as the turn id.
func (j *job) begun(c *conversation, id string, afresh freshness) {
	model := cmp.Or(j.Options.Model, c.own.model)
	j.observe(agent.Started{ThreadID: c.threadID, TurnID: id, Model: model, Attempt: j.attempt.N, Replaced: afresh != "", Waited: time.Since(j.submitted)})
	if afresh != "" {
		j.observe(agent.Notice{Text: afresh.toSender()})
	}
	j.tellSpared(c)
}

// follow reads the turn's events until it has ended. It returns a [cutError] if
// the child died and it is to be found out what became of the turn.
func (t *turn) follow() (*agent.Ended, error) {
	defer t.openLine().close()
	t.job.begun(t.c, t.id, t.afresh)
	return t.read()
}

// read is follow without word of the turn's beginning.
func (t *turn) read() (end *agent.Ended, err error) {
	defer func() { t.e.endBriefing(t.c, err) }()
	defer t.attention.close()
	defer t.c.remember(&t.record)
	defer t.endQuestions()
	stop := context.AfterFunc(t.job.ctx, func() { t.attention.raise(context.Cause(t.job.ctx)) })
	defer stop()
	t.clock = clock{left: t.e.cfg.TurnTimeout, on: t.e.cfg.TurnTimeout > 0}
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
				return nil, cutError{t.on.settled(err)}
			}
		}
		if end != nil {
			return end, nil
		}
	}
}
