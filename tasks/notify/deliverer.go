package notify

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/push"
)

const (
	timeout = 10 * time.Second
	// grace is what notices under way get when the deliverer is stopped.
	grace = 2 * time.Second
	// page is how many are looked at, those that are under way among them.
	page = 2 * mostAtOnce
	// mostAtOnce bounds those that are under way: receivers that hang leave room for
	// others, until they are as many.
	mostAtOnce = 16
	// retry is when to look again for what could not be read.
	retry = time.Second
)

// A Journal keeps notices. A [store.Store] is one, and says what its methods mean.
type Journal interface {
	Notice(ctx context.Context, task string) (store.Notice, error)
	Notices(ctx context.Context, limit int) ([]store.Notice, error)
	NoticesToSend(ctx context.Context, limit int) ([]store.Notice, error)
	SetNotice(ctx context.Context, n store.Notice) error
}

var _ Journal = (*store.Store)(nil)

// Config describes a deliverer. Journal must be set; the zero value of everything
// else works.
type Config struct {
	Journal  Journal
	Poster   *push.Poster // posts to URLs; nil refuses them
	Platform Platform     // nil refuses its places
	Now      func() time.Time
	Logger   *slog.Logger // nil discards
}

// A Deliverer sends notices. Create it with [New].
type Deliverer struct {
	cfg  Config
	log  *slog.Logger
	post *push.Poster
	wake chan struct{} // has room for one

	mu      sync.Mutex               // guards the fields below
	sending map[string]bool          // the tasks whose notices are sent by themselves
	busy    map[string]chan struct{} // closed when the notice of the task is let go
	unnoted map[string]store.Notice  // what became of those that the journal could not take
}

// New returns a deliverer. It starts nothing.
func New(cfg Config) *Deliverer {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Deliverer{
		cfg: cfg, log: cfg.Logger, post: cfg.Poster, wake: make(chan struct{}, 1),
		sending: map[string]bool{}, busy: map[string]chan struct{}{}, unnoted: map[string]store.Notice{},
	}
}

// Wake says that there is a new notice. It never blocks.
func (d *Deliverer) Wake() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// Run sends what is due until ctx ends, beginning with what an earlier process has
// left. It may be called once.
func (d *Deliverer) Run(ctx context.Context) {
	work, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cut) })
	defer stop()
	var sending sync.WaitGroup
	defer sending.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.wake:
		case <-timer.C:
		}
		timer.Reset(d.round(ctx, work, &sending))
	}
}

// round begins to send what is due, as far as there is room, and returns when to
// look again. The end of each makes room, and wakes the next round.
func (d *Deliverer) round(ctx, work context.Context, sending *sync.WaitGroup) time.Duration {
	due, err := d.cfg.Journal.NoticesToSend(ctx, page)
	if err != nil {
		if ctx.Err() == nil {
			d.log.Error("the notices of ended tasks cannot be read; this is tried again", "err", err)
		}
		return retry
	}
	for _, n := range due {
		if wait := n.Due.Sub(d.cfg.Now()); wait > 0 {
			return min(wait, time.Hour)
		}
		if d.begin(n.Task) {
			sending.Go(func() { d.work(work, n.Task) })
		}
	}
	return time.Hour // or when somebody wakes us
}

// begin reports whether the notice of a task is to be sent now: there is room, and
// nobody does it already.
func (d *Deliverer) begin(task string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sending[task] || len(d.sending) >= mostAtOnce {
		return false
	}
	d.sending[task] = true
	return true
}

// work sends one notice by itself.
func (d *Deliverer) work(ctx context.Context, task string) {
	if _, err := d.send(ctx, task, d.isDue); err != nil {
		select { // the journal is to blame, and asking it at once does not help
		case <-time.After(retry):
		case <-ctx.Done():
		}
	}
	d.mu.Lock()
	delete(d.sending, task)
	d.mu.Unlock()
	d.Wake()
}

// isDue is for what is sent by itself.
func (d *Deliverer) isDue(n store.Notice) bool {
	return !n.Due.IsZero() && !n.Due.After(d.cfg.Now())
}

// take waits until nobody has the notice of a task in hand, and takes it.
func (d *Deliverer) take(ctx context.Context, task string) (release func(), err error) {
	for {
		d.mu.Lock()
		held := d.busy[task]
		if held == nil {
			mine := make(chan struct{})
			d.busy[task] = mine
			d.mu.Unlock()
			return func() {
				d.mu.Lock()
				delete(d.busy, task)
				d.mu.Unlock()
				close(mine)
			}, nil
		}
		d.mu.Unlock()
		select {
		case <-held:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
