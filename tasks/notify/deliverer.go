package notify

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/push"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/rounds"
)

const (
	timeout = 10 * time.Second
	// page is how many a round has, those that are under way among them.
	page = 2 * mostAtOnce
	// mostAtOnce bounds those that are under way: hosts that hang leave room for others,
	// until they are as many.
	mostAtOnce = 16
)

// A Journal keeps notices. A [store.Store] is one, and says what its methods mean.
type Journal interface {
	Notice(ctx context.Context, task string) (store.Notice, error)
	Notices(ctx context.Context, limit int) ([]store.Notice, error)
	NoticesToSend(ctx context.Context, told func(store.Notice) bool) error
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
	*rounds.Rounds[string] // by the tasks whose notices are sent by themselves

	cfg  Config
	log  *slog.Logger
	post *push.Poster
	to   *push.Receivers

	mu      sync.Mutex               // guards the fields below
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
		Rounds: rounds.New[string](mostAtOnce), cfg: cfg, log: cfg.Logger, post: cfg.Poster, to: push.NewReceivers(timeout, cfg.Now),
		busy: map[string]chan struct{}{}, unnoted: map[string]store.Notice{},
	}
}

// Run sends what is due until ctx ends, beginning with what an earlier process has
// left. It may be called once.
func (d *Deliverer) Run(ctx context.Context) {
	d.Rounds.Run(ctx, d.due, d.deliver)
}

// deliver sends one that is due, if there is room for it where it goes.
func (d *Deliverer) deliver(ctx context.Context, task string) error {
	var end func(answered bool)
	r, err := d.send(ctx, task, func(n store.Notice) (ok bool) {
		switch {
		case !d.isDue(n):
			return false
		case n.Target == Local:
			return true
		}
		end, ok = d.to.Begin(n.Target)
		return ok
	})
	if end != nil {
		end(r.answered)
	}
	return err
}

// due lists the tasks whose notices are due, and says when to look again.
func (d *Deliverer) due(ctx context.Context) (due []string, next time.Duration) {
	next = rounds.Idle
	err := d.cfg.Journal.NoticesToSend(ctx, func(n store.Notice) bool {
		switch wait := n.Due.Sub(d.cfg.Now()); {
		case wait > 0:
			next = min(next, wait)
		case n.Target == Local || d.to.Room(n.Target): // the end of what has no room for it wakes us
			due = append(due, n.Task)
		}
		return len(due) < page
	})
	if err != nil {
		if ctx.Err() == nil {
			d.log.Error("the notices of ended tasks cannot be read; this is tried again", "err", err)
		}
		return nil, rounds.Retry
	}
	return due, next
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
