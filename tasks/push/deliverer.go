package push

import (
	"context"
	"log/slog"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/deliver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/netguard"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

const defaultTimeout = 10 * time.Second

// An Outbox keeps deliveries until they are made, and what they are sent by. A
// [store.Store] is one, and says what its methods mean.
type Outbox interface {
	deliver.Outbox
	Pushes(ctx context.Context, task string) ([]store.Push, error)
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
	*deliver.Deliverer[*lane, *lane]
	posts *posts
}

// New returns a deliverer. It starts nothing.
func New(cfg Config) *Deliverer {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Sender == nil {
		cfg.Sender = func(string) Sender { return Sender{} }
	}
	p := newPosts(cfg)
	return &Deliverer{deliver.New(deliver.Config[*lane, *lane]{
		Words: deliver.Words{Kind: "push notification", Dead: "a push notification is given up"}, Journal: p, Sender: p, Room: p, Now: cfg.Now, Logger: cfg.Logger,
	}), p}
}

// Check refuses a URL that must not be posted to. What a name leads to is judged
// when it is posted to.
func (d *Deliverer) Check(url string) error { return d.posts.poster.Check(url) }

// Full reports whether so much waits for who speaks in a conversation, or for all peers,
// that no more should be put into the outbox. It may be a moment behind.
func (d *Deliverer) Full(conversation string) bool {
	return d.posts.waiting.full(d.posts.cfg.Sender(conversation))
}

// Reserve takes room for notifications of a conversation that are about to be put into the
// outbox, so many bytes in all, or reports that there is none.
func (d *Deliverer) Reserve(conversation string, bytes int) bool {
	return d.posts.waiting.reserve(d.posts.cfg.Sender(conversation), bytes, d.posts.cfg.Now())
}

// Run delivers until ctx ends, beginning with what an earlier process has left.
// It may be called once.
func (d *Deliverer) Run(ctx context.Context) {
	defer d.posts.poster.Close()
	d.Deliverer.Run(ctx)
}
