package notify

import (
	"context"
	"log/slog"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/deliver"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/push"
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

// A Deliverer sends notices, those of several tasks at the same time. Create it with [New].
type Deliverer struct {
	*deliver.Deliverer[string, *delivery]
	notices notices
}

// New returns a deliverer. It starts nothing.
func New(cfg Config) *Deliverer {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	n := notices{cfg, push.NewReceivers(timeout, cfg.Now)}
	const failed = "somebody could not be told of the end of a task"
	return &Deliverer{deliver.New(deliver.Config[string, *delivery]{
		Words: deliver.Words{Kind: "notice of an ended task", Failed: failed, Dead: failed}, Journal: n, Sender: n, Room: n, Most: mostAtOnce, Now: cfg.Now, Logger: cfg.Logger,
	}), n}
}

// notices are those of a journal: a [deliver.Journal], its [deliver.Sender] and its
// [deliver.Room].
type notices struct {
	cfg Config
	to  *push.Receivers
}

// A delivery is one try of a notice.
type delivery struct {
	store.Notice
	asked    bool // for it by a caller, whenever it is due
	tried    bool
	answered bool // by the host of a URL, whatever that says, or by the platform, which has it
	said     any  // what the receiver, or we, say of it
}

// Due implements [deliver.Journal].
func (s notices) Due(ctx context.Context, offer func(string, *delivery) bool) (next time.Duration, err error) {
	next = deliver.Idle
	offers := 0
	err = s.cfg.Journal.NoticesToSend(ctx, func(n store.Notice) bool {
		switch wait := n.Due.Sub(s.cfg.Now()); {
		case wait > 0:
			next = min(next, wait)
		case n.Target == Local || s.to.Room(host(n.Target)): // the end of what has no room for it wakes us
			offers++
			offer(n.Task, &delivery{Notice: n})
		}
		return offers < page
	})
	return next, err
}

// Begin implements [deliver.Room]: a receiver that hangs leaves places for others.
func (s notices) Begin(d *delivery) (end func(deliver.Settlement), ok bool) {
	if d.Target == Local {
		return func(deliver.Settlement) {}, true
	}
	done, ok := s.to.Begin(host(d.Target))
	return func(deliver.Settlement) { done(d.answered) }, ok
}

// Settle implements [deliver.Journal].
func (s notices) Settle(ctx context.Context, d *delivery, how deliver.Settlement) error {
	n := d.Notice
	n.Status, n.Error, n.Tries, n.Due = store.NoticeSent, "", how.Tries, how.Due
	if how.Err != nil {
		n.Status, n.Error = store.NoticeFailed, how.Err.Error()
	}
	return s.cfg.Journal.SetNotice(ctx, n)
}
