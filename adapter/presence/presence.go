package presence

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// ErrDeleted says that the platform has deleted the workspace: the runtime is to end,
// in good order.
var ErrDeleted = errors.New("the platform has deleted this workspace")

// A Platform is the part of the platform's client that presence needs; a
// [platform.Client] is one.
type Platform interface {
	Register(ctx context.Context, r platform.Registration) (platform.Registered, error)
	Heartbeat(ctx context.Context, beat platform.Beat) error
	State(ctx context.Context) (platform.State, error)
	Workspace(ctx context.Context) (platform.Info, error)
}

// Config describes a presence. Platform, URL and Card must be set; the zero value of
// everything else works. The functions are called often and must answer at once.
type Config struct {
	Platform     Platform
	URL          string // where the platform and peers reach us; see [platform.WorkspaceURL]
	DeliveryMode string // push or poll; "" means push
	Card         func() any
	Every        time.Duration // between heartbeats; 0 means 30 s

	Metadata platform.RuntimeMetadata
	Tools    func() []string // the tools that are loaded; nil, and a nil list, says nothing of them
	Wedged   func() string   // why no turn can be started, "" if they can; nil means that they can

	Redact func(string) string // applied to what leaves the machine; nil leaves it
	Logger *slog.Logger        // nil discards
}

// A Presence tells the platform of a workspace. Create it with [New]. Its methods may
// be called concurrently.
type Presence struct {
	cfg   Config
	log   *slog.Logger
	start time.Time
	work  work

	tried chan struct{} // closed after the first attempt to register
	again chan struct{} // asks for a registration; holds one
	look  chan struct{} // asks for a look at the workspace's state; holds one

	mu     sync.Mutex // guards status
	status Status
}

// A Status is how the platform and we stand.
type Status struct {
	Registered bool      `json:"registered"`         // the last registration was taken
	Reachable  bool      `json:"reachable"`          // the platform has an address of ours
	Refused    string    `json:"refused,omitempty"`  // why the last registration was not taken
	LastBeat   time.Time `json:"last_beat,omitzero"` // that the platform has taken
	BeatError  string    `json:"beat_error,omitempty"`
	Paused     bool      `json:"paused,omitempty"`
	NoPolling  bool      `json:"no_polling,omitempty"` // we poll, and the platform has no such thing
	Active     int       `json:"active_tasks"`
}

// New returns a presence. It says nothing before [Presence.Run].
func New(cfg Config) *Presence {
	cfg.DeliveryMode = cmp.Or(cfg.DeliveryMode, "push")
	cfg.Every = cmp.Or(cfg.Every, beatEvery)
	if cfg.Tools == nil {
		cfg.Tools = func() []string { return nil }
	}
	if cfg.Wedged == nil {
		cfg.Wedged = func() string { return "" }
	}
	if cfg.Redact == nil {
		cfg.Redact = func(s string) string { return s }
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Presence{
		cfg: cfg, log: cfg.Logger, start: time.Now(), work: newWork(),
		tried: make(chan struct{}), again: make(chan struct{}, 1), look: make(chan struct{}, 1),
	}
}

// Run keeps the workspace known until ctx ends, and then returns nil; or until the
// platform has deleted it, and then returns [ErrDeleted]. The runtime must listen.
// Run is called once.
func (p *Presence) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { p.stayRegistered(ctx); return nil })
	group.Go(func() error { p.beatOn(ctx); return nil })
	group.Go(func() error { return p.watch(ctx) })
	return group.Wait()
}

// Tried is closed when registering was tried once.
func (p *Presence) Tried() <-chan struct{} { return p.tried }

// Status reports how the platform and we stand.
func (p *Presence) Status() Status {
	p.mu.Lock()
	s := p.status
	p.mu.Unlock()
	s.Active = p.work.snapshot(time.Now()).active
	return s
}

// Ready reports whether the platform can send us messages, and how we stand in words.
func (p *Presence) Ready() (bool, string) {
	s := p.Status()
	switch {
	case s.Paused:
		return true, "the workspace is paused"
	case s.NoPolling:
		return false, s.Refused
	case s.Registered:
		return true, "registered"
	case s.Reachable && s.BeatError == "" && !s.LastBeat.IsZero():
		return true, "registering is refused (" + s.Refused + "), but the platform knows an address of ours and takes our heartbeats"
	case s.Refused != "":
		return false, "not registered: " + s.Refused + "; it is tried again"
	}
	return false, "not registered yet"
}

func (p *Presence) update(f func(*Status)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(&p.status)
}

// poke asks whoever reads from c to do something soon.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
