package push

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// A landing is what became of the first delivery of a lane.
type landing struct {
	lane      *lane
	left      bool // it stays in the outbox
	due       time.Time
	host      string // that it was posted to
	treatment treatment
}

// deliver posts the first delivery of a lane and notes in the outbox what came
// of it. What cannot be noted is posted again by the next process at worst.
func (d *Deliverer) deliver(ctx context.Context, l *lane, r row) {
	land := landing{lane: l}
	defer func() { d.landed <- land }()
	s, n, err := d.prepare(ctx, l, r)
	switch {
	case errors.Is(err, errGone):
		d.note(d.cfg.Outbox.Sent(ctx, r.id))
		return
	case errors.Is(err, errDamaged):
		d.log.Error("a push notification cannot be read and is given up", "task_id", l.task, "config_id", l.setting, "delivery", r.id)
		d.note(d.cfg.Outbox.Dead(ctx, r.id))
		return
	case err != nil: // the outbox cannot be read
		land.left, land.due = true, d.cfg.Now().Add(retry)
		return
	}
	began := d.cfg.Now()
	a := d.post(ctx, s, n)
	now := d.cfg.Now()
	land.host, land.treatment = s.canonicalHost(), treatmentOf(a.status != 0, now.Sub(began), cmp.Or(d.cfg.Timeout, defaultTimeout))
	due := now.Add(wait(r.tries+1, a.wait, jitter()))
	switch {
	case a.verdict == arrived:
		d.note(d.cfg.Outbox.Sent(ctx, r.id))
	case ctx.Err() != nil: // we were cut off, not the receiver
		land.left, land.due, land.treatment = true, now, unknown
	case a.verdict == again && !store.IsOver(r.tries+1, due.Sub(r.created)) && !d.waiting.full(l.queue.sender):
		land.left, land.due = true, due
		d.note(d.cfg.Outbox.Failed(ctx, r.id, due))
	default:
		d.log.Warn("a push notification is given up", "task_id", l.task, "config_id", l.setting,
			"host", s.host(), "status", a.status, "reason", a.reason, "tries", r.tries+1)
		d.note(d.cfg.Outbox.Dead(ctx, r.id))
	}
}

// errDamaged says that a setting or a row of the outbox is not what we have put there.
var errDamaged = errors.New("damaged")

// prepare reads what to post, and to whom. Settings are read each time: they can
// be changed and deleted until the last moment.
func (d *Deliverer) prepare(ctx context.Context, l *lane, r row) (s Setting, n Notification, err error) {
	if s, err = d.setting(ctx, l.laneKey); err != nil {
		return s, n, err
	}
	whole, err := d.cfg.Outbox.Delivery(ctx, r.id)
	if errors.Is(err, store.ErrUnknown) {
		return s, n, errGone
	}
	if err != nil {
		return s, n, err
	}
	if n, err = read(whole); err != nil {
		return s, n, errDamaged
	}
	return s, n, nil
}

// note logs that the outbox could not be written.
func (d *Deliverer) note(err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		d.log.Error("what became of a push notification could not be noted; it may be sent again", "err", err)
	}
}
