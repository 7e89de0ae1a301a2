package late

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/rounds"
)

const (
	timeout = 30 * time.Second
	page    = 256
	// shortest and longest are the pauses between tries of a reply.
	shortest, longest = 2 * time.Second, 5 * time.Minute
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
	*rounds.Rounds[int64] // by the deliveries' ids; one at a time: the user reads them in their order

	cfg  Config
	log  *slog.Logger
	done map[int64]bool // arrived, or given up, and not noted; of the delivery that is made
}

// New returns a deliverer. It starts nothing.
func New(cfg Config) *Deliverer {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Deliverer{Rounds: rounds.New[int64](1), cfg: cfg, log: cfg.Logger, done: map[int64]bool{}}
}

// Run sends what is due until ctx ends, beginning with what an earlier process has left.
// It may be called once.
func (d *Deliverer) Run(ctx context.Context) { d.Rounds.Run(ctx, d.due, d.deliver) }

// due lists the replies that are due, and says when to look again.
func (d *Deliverer) due(ctx context.Context) (due []int64, next time.Duration) {
	rows, err := d.cfg.Outbox.Waiting(ctx, Kind, 0, page)
	if err != nil {
		if ctx.Err() == nil {
			d.log.Error("the late replies cannot be read; this is tried again", "err", err)
		}
		return nil, rounds.Retry
	}
	next = rounds.Idle
	for _, row := range rows {
		if wait := row.Due.Sub(d.cfg.Now()); wait > 0 {
			next = min(next, wait)
		} else {
			due = append(due, row.ID)
		}
	}
	return due, next
}

// deliver sends one, unless its caller has got it meanwhile, and notes what came of it.
func (d *Deliverer) deliver(ctx context.Context, id int64) error {
	err := d.send(ctx, id)
	if err != nil && ctx.Err() == nil {
		d.log.Error("what became of a late reply could not be noted; this is tried again", "delivery", id, "err", err)
	}
	return err
}

func (d *Deliverer) send(ctx context.Context, id int64) error {
	if d.done[id] {
		return d.settle(ctx, id, d.cfg.Outbox.Sent)
	}
	row, err := d.cfg.Outbox.Delivery(ctx, id)
	if errors.Is(err, store.ErrUnknown) {
		return nil
	}
	if err != nil {
		return err
	}
	if row.Due.After(d.cfg.Now()) { // it was put off while the list was made
		return nil
	}
	reply, err := decode(row.Body)
	if err != nil || reply.Text == "" {
		d.log.Error("a late reply is damaged; it is given up", "task_id", row.Task, "err", err)
		return d.settle(ctx, id, d.cfg.Outbox.Dead)
	}
	saying, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err = d.cfg.Canvas.Say(saying, reply)
	switch {
	case err == nil:
		d.log.Info("the user was given a late reply", "task_id", row.Task, "chars", len(reply.Text))
		d.done[id] = true
		return d.settle(ctx, id, d.cfg.Outbox.Sent)
	case ctx.Err() != nil: // we were cut off, not the platform
		return err
	}
	var refused interface{ Permanent() bool }
	final := errors.As(err, &refused) && refused.Permanent() || store.IsOver(row.Tries+1, d.cfg.Now().Sub(row.Created))
	d.log.Warn("the user could not be given a late reply", "task_id", row.Task, "err", err, "tries", row.Tries+1, "again", !final)
	if final {
		return d.settle(ctx, id, d.cfg.Outbox.Dead)
	}
	return d.cfg.Outbox.Failed(ctx, id, d.cfg.Now().Add(pause(row.Tries)))
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
