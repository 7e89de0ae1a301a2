package codex

import (
	"cmp"
	"context"
	"errors"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/items"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/told"
)

// ready gets the thread of c ready for a turn that asks for o.
func (d *Driver) ready(ctx context.Context, c *conversation, o agent.Options, on *child.Child) error {
	d.renew(c)
	if err := errors.Join(d.stands(c, o), wish(d.guard.ApartFor(o, placesOf(on.Launch)))); err != nil {
		return err
	}
	if err := d.introduce(ctx, c.place, on); err != nil {
		return on.Settled(err)
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

// bridgeKey names, in the additional context of a turn, what the model of a task that was handed over is told.
const bridgeKey = "task_bridge"

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
	c.takeTo(t.Options, &params)
	instructions, tells := d.brief(c, &params)
	if c.fresh != "" {
		addContext(&params, "runtime_notice", c.fresh.ToModel())
	}
	if t.Bridged {
		addContext(&params, bridgeKey, told.OwnWords)
	}
	c.warn(&params)
	if c.place != nil {
		c.place.Begin(c.threadID)
	}
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
