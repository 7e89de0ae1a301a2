package push

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/netguard"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

const (
	defaultTimeout = 10 * time.Second
	// grace is what posts in flight get when the deliverer is stopped. One that is
	// cut off is posted again by the next process.
	grace = 2 * time.Second
	// page is how many deliveries are read at a time.
	page = 256
	// retry is when to look again for what could not be read.
	retry = time.Second
)

// An Outbox keeps deliveries until they are made. A [store.Store] is one, and
// says what its methods mean.
type Outbox interface {
	Waiting(ctx context.Context, kind string, after int64, limit int) ([]store.Delivery, error)
	Delivery(ctx context.Context, id int64) (store.Delivery, error)
	Pushes(ctx context.Context, task string) ([]store.Push, error)
	Sent(ctx context.Context, ids ...int64) error
	Failed(ctx context.Context, id int64, due time.Time) error
	Dead(ctx context.Context, ids ...int64) error
}

var _ Outbox = (*store.Store)(nil)

// Config describes a deliverer. Outbox must be set; the zero value of everything
// else works.
type Config struct {
	Outbox  Outbox
	Guard   *netguard.Guard // says where may be posted to; nil allows the public internet
	Timeout time.Duration   // of a post; 0 means 10 s
	// Sender says who has the tasks of a conversation made; nil takes all for one.
	Sender func(conversation string) Sender
	Now    func() time.Time
	Logger *slog.Logger // nil discards
}

// A Deliverer posts what is in the outbox. Create it with [New].
type Deliverer struct {
	cfg    Config
	log    *slog.Logger
	poster *Poster
	wake   chan struct{} // has room for one
	landed chan landing

	waiting *backlog

	// Run owns the fields below.
	schedule *schedule
	last     int64 // the newest delivery that is in the schedule, or was
	blind    bool  // the outbox could not be read; said once
}

// New returns a deliverer. It starts nothing.
func New(cfg Config) *Deliverer {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Sender == nil {
		cfg.Sender = func(string) Sender { return Sender{} }
	}
	return &Deliverer{
		cfg: cfg, log: cfg.Logger, poster: NewPoster(cfg.Guard, cfg.Timeout, cfg.Now),
		wake: make(chan struct{}, 1), landed: make(chan landing), waiting: newBacklog(), schedule: newSchedule(),
	}
}

// Check refuses a URL that must not be posted to. What a name leads to is judged
// when it is posted to.
func (d *Deliverer) Check(url string) error {
	return d.poster.Check(url)
}

// Full reports whether so much waits for who speaks in a conversation, or for all peers,
// that no more should be put into the outbox. It may be a moment behind.
func (d *Deliverer) Full(conversation string) bool {
	return d.waiting.full(d.cfg.Sender(conversation))
}

// Reserve takes room for notifications of a conversation that are about to be put into the
// outbox, so many bytes in all, or reports that there is none.
func (d *Deliverer) Reserve(conversation string, bytes int) bool {
	return d.waiting.reserve(d.cfg.Sender(conversation), bytes, d.cfg.Now())
}

// Wake says that there is something new in the outbox. It never blocks.
func (d *Deliverer) Wake() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// Run delivers until ctx ends, beginning with what an earlier process has left.
// It may be called once.
func (d *Deliverer) Run(ctx context.Context) {
	posts, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer d.poster.Close()
	defer cut()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-d.wake:
			d.load(ctx)
		case <-timer.C:
			d.load(ctx)
		case l := <-d.landed:
			d.land(l)
		}
		if ctx.Err() == nil {
			timer.Reset(d.launch(posts))
		}
	}
	stop := time.AfterFunc(grace, cut)
	defer stop.Stop()
	for d.schedule.posts.all > 0 {
		d.land(<-d.landed)
	}
}

// land takes what became of a delivery into the schedule.
func (d *Deliverer) land(l landing) {
	size := l.lane.rows[0].size
	d.schedule.land(l, d.cfg.Now())
	if !l.left {
		d.waiting.remove(l.lane.queue.sender, size)
	}
}

// load takes what is new into the schedule.
func (d *Deliverer) load(ctx context.Context) {
	for {
		rows, err := d.cfg.Outbox.Waiting(ctx, Kind, d.last, page)
		if err != nil {
			if !d.blind && ctx.Err() == nil {
				d.log.Error("the outbox of push notifications cannot be read; this is tried again each second", "err", err)
			}
			d.blind = true
			return
		}
		d.blind = false
		now := d.cfg.Now()
		for _, r := range rows {
			d.last = r.ID
			r.Due = now.Add(r.Due.Sub(now)) // by a clock that nobody puts back
			from := d.cfg.Sender(r.Conversation)
			d.schedule.add(r, from, func() string { return d.host(ctx, r) })
			d.waiting.add(from, r.Size)
		}
		if len(rows) < page {
			d.waiting.lapse(d.cfg.Now())
			return
		}
	}
}

// host is where a delivery goes, as far as that is known.
func (d *Deliverer) host(ctx context.Context, r store.Delivery) string {
	s, _ := d.setting(ctx, laneKey{r.Task, r.Target})
	return s.canonicalHost()
}

// errGone says that nobody waits for a delivery any more.
var errGone = errors.New("the setting is gone")

// setting reads the setting of a lane.
func (d *Deliverer) setting(ctx context.Context, key laneKey) (Setting, error) {
	all, err := d.cfg.Outbox.Pushes(ctx, key.task)
	switch {
	case errors.Is(err, store.ErrUnknown):
		return Setting{}, errGone
	case err != nil:
		return Setting{}, err
	}
	for _, p := range all {
		if p.ID != key.setting {
			continue
		}
		s, err := Decode(p)
		if err != nil {
			err = errDamaged
		}
		return s, err
	}
	return Setting{}, errGone
}

// launch starts the posts that are due, and returns when to look again.
func (d *Deliverer) launch(ctx context.Context) time.Duration {
	for {
		now := d.cfg.Now()
		l, later := d.schedule.next(now)
		switch {
		case l != nil:
			r := d.schedule.launch(l, now)
			go d.deliver(ctx, l, r) // Run waits for what it says in the end
		case d.blind:
			return retry
		case later.IsZero():
			return time.Hour // or when somebody wakes us
		default:
			return later.Sub(now)
		}
	}
}

// jitter is in [0, 1).
func jitter() float64 { return rand.Float64() } //nolint:gosec // nothing secret depends on it
