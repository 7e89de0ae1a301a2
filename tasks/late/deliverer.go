package late

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

const (
	timeout = 30 * time.Second
	// grace is what a reply under way gets when the deliverer is stopped.
	grace = 2 * time.Second
	page  = 256
	// retry is when to look again for what could not be read.
	retry = time.Second
	// shortest and longest are the pauses between tries of a reply.
	shortest, longest = 2 * time.Second, 5 * time.Minute
	// lifetime is when a reply that never arrived is given up.
	lifetime = 24 * time.Hour
)

// An Outbox keeps deliveries until they are made. A [store.Store] is one, and says what
// its methods mean.
type Outbox interface {
	Waiting(ctx context.Context, kind string, after int64, limit int) ([]store.Delivery, error)
	Delivery(ctx context.Context, id int64) (store.Delivery, error)
	Sent(ctx context.Context, ids ...int64) error
	Failed(ctx context.Context, id int64, due time.Time) error
	Dead(ctx context.Context, ids ...int64) error
}

var _ Outbox = (*store.Store)(nil)

// A Canvas is where the user of the workspace reads.
type Canvas interface {
	// Say shows the user a reply. An error with a method Permanent that returns true is
	// not tried again.
	Say(ctx context.Context, r Reply) error
}

// Config describes a deliverer. Outbox and Canvas must be set.
type Config struct {
	Outbox Outbox
	Canvas Canvas
	Now    func() time.Time
	Logger *slog.Logger // nil discards
}

// A Deliverer sends late replies. Create it with [New].
type Deliverer struct {
	cfg  Config
	log  *slog.Logger
	wake chan struct{}  // has room for one
	done map[int64]bool // arrived, or given up, and not noted; Run owns it
}

// New returns a deliverer. It starts nothing.
func New(cfg Config) *Deliverer {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Deliverer{cfg: cfg, log: cfg.Logger, wake: make(chan struct{}, 1), done: map[int64]bool{}}
}

// Wake says that there is a new reply, or that one is due sooner. It never blocks.
func (d *Deliverer) Wake() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// Run sends what is due until ctx ends, beginning with what an earlier process has left.
// It may be called once.
func (d *Deliverer) Run(ctx context.Context) {
	work, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cut) })
	defer stop()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.wake:
		case <-timer.C:
		}
		timer.Reset(d.round(ctx, work))
	}
}

// round sends what is due and returns when to look again.
func (d *Deliverer) round(ctx, work context.Context) time.Duration {
	rows, err := d.cfg.Outbox.Waiting(ctx, Kind, 0, page)
	if err != nil {
		if ctx.Err() == nil {
			d.log.Error("the late replies cannot be read; this is tried again", "err", err)
		}
		return retry
	}
	next := time.Hour // or when somebody wakes us
	for _, row := range rows {
		if ctx.Err() != nil {
			return next
		}
		if wait := row.Due.Sub(d.cfg.Now()); wait > 0 {
			next = min(next, wait)
			continue
		}
		if err := d.deliver(work, row); err != nil {
			if work.Err() == nil {
				d.log.Error("what became of a late reply could not be noted; this is tried again", "task_id", row.Task, "err", err)
			}
			next = min(next, retry)
			continue
		}
		next = 0 // it may be due again, or there may be more
	}
	return next
}

// deliver sends one, unless its caller has got it meanwhile, and notes what came of it.
func (d *Deliverer) deliver(ctx context.Context, row store.Delivery) error {
	if d.done[row.ID] {
		return d.settle(ctx, row.ID, d.cfg.Outbox.Sent)
	}
	whole, err := d.cfg.Outbox.Delivery(ctx, row.ID)
	if errors.Is(err, store.ErrUnknown) {
		return nil
	}
	if err != nil {
		return err
	}
	reply, err := decode(whole.Body)
	if err != nil || reply.Text == "" {
		d.log.Error("a late reply is damaged; it is given up", "task_id", row.Task, "err", err)
		return d.settle(ctx, row.ID, d.cfg.Outbox.Dead)
	}
	saying, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err = d.cfg.Canvas.Say(saying, reply)
	switch {
	case err == nil:
		d.done[row.ID] = true
		return d.settle(ctx, row.ID, d.cfg.Outbox.Sent)
	case ctx.Err() != nil: // we were cut off, not the platform
		return err
	}
	var refused interface{ Permanent() bool }
	final := errors.As(err, &refused) && refused.Permanent() || d.cfg.Now().Sub(whole.Created) > lifetime
	d.log.Warn("the user could not be given a late reply", "task_id", row.Task, "err", err, "tries", whole.Tries+1, "again", !final)
	if final {
		return d.settle(ctx, row.ID, d.cfg.Outbox.Dead)
	}
	return d.cfg.Outbox.Failed(ctx, row.ID, d.cfg.Now().Add(pause(whole.Tries)))
}

// settle notes that a reply need not be sent any more. The note must not be lost to the
// end of our own context.
func (d *Deliverer) settle(ctx context.Context, id int64, note func(context.Context, ...int64) error) error {
	err := note(context.WithoutCancel(ctx), id)
	if err == nil {
		delete(d.done, id)
	}
	return err
}

// pause is how long to wait after so many tries and one more.
func pause(tries int) time.Duration {
	return min(shortest<<min(tries, 20), longest)
}
