package codex

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/failure"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/inquiry"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/leftovers"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/login"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/sandbox"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/told"
)

// A Driver has codex carry turns out. It implements [executor.Driver]. Create it with [New].
type Driver struct {
	cfg   Config
	log   *slog.Logger
	child *child.Supervisor
	host  executor.Host
	root  context.Context // ends with [executor.ErrShutdown]

	toolSet    string        // of cfg.Thread.DynamicTools
	versions   told.Versions // of the instructions
	failures   *failure.Reader
	guard      *sandbox.Guard
	credential *login.Credential
	desk       *inquiry.Desk
	ender      *leftovers.Ender

	reading sync.Mutex             // held while a large request of codex is read
	restart atomic.Pointer[string] // why codex is to be restarted when no turn runs; nil if it is not

	wg sync.WaitGroup // what it has started by itself

	mu            sync.Mutex // guards the fields below; taken under the locks of the scheduler
	closed        bool
	conversations map[string]*conversation
	threads       map[string]bool          // every thread of ours, whose commands end with the child
	introduced    map[string]introduction  // remote environments, by their ids
	away          map[string]chan struct{} // closed when the thread, which came too late, is put away
}

// New returns a driver. Codex is started by the first turn, or by [Driver.Warm].
func New(cfg Config) *Driver {
	cfg = cfg.withDefaults()
	d := &Driver{
		cfg:           cfg,
		log:           cfg.Logger,
		failures:      failure.NewReader(cfg.Redact),
		guard:         sandbox.New(cfg.terms()),
		toolSet:       toolSet(cfg.Thread.DynamicTools),
		conversations: map[string]*conversation{},
		threads:       map[string]bool{},
		away:          map[string]chan struct{}{},
		introduced:    map[string]introduction{},
		desk:          inquiry.NewDesk(inquiry.Bounds{Most: cfg.MaxAsked, TTL: cfg.QuestionTTL}),
	}
	d.ender = leftovers.New(leftovers.Config{Desk: d.desk, User: cfg.Child.User, Grace: cfg.Grace, Logger: d.log})
	d.child = child.NewSupervisor(child.Config{
		Codex: d.childConfig(), Prepare: d.newLaunch, First: d.firstStart, Ended: d.childEnded,
		Patience: cfg.Patience, Metrics: cfg.Metrics, Logger: d.log,
	})
	d.credential = login.New(login.Config{
		Child: d.child, RestartWhenIdle: d.RestartWhenIdle, Probe: d.Probe,
		Limits: &d.failures.Limits, Metrics: cfg.Metrics, Logger: d.log,
		User: cfg.Child.User, KeyVariable: cfg.KeyVariable, Patience: cfg.Patience,
		ProbeEvery: cfg.LoginProbe, RefreshEvery: cfg.RefreshEvery,
	})
	return d
}

// Serve implements [executor.Driver], as do the methods below.
func (d *Driver) Serve(ctx context.Context, host executor.Host) {
	d.root, d.host = ctx, host
	d.credential.Serve(ctx, host)
	d.wg.Go(d.credential.Refresh)
	if d.cfg.Calls != nil {
		d.cfg.Calls(d.called)
	}
}

// Ready waits until codex has been started.
func (d *Driver) Ready(ctx context.Context) error {
	_, err := d.child.Get(ctx)
	return d.trouble(err)
}

// Open pins the conversation of a context.
func (d *Driver) Open(key string) executor.Session { return d.pin(key) }

// Close ends the child, after what the driver has begun by itself.
func (d *Driver) Close(ctx context.Context, served <-chan struct{}) error {
	rested := make(chan struct{})
	go func() {
		<-served
		d.rest()
		close(rested)
	}()
	select {
	case <-rested:
	case <-ctx.Done():
	}
	killed := context.AfterFunc(ctx, d.child.Kill)
	d.child.Close() // the child's end ends every turn, so this is the last wait
	<-rested
	if !killed() && context.Cause(ctx) != nil {
		return fmt.Errorf("close: codex was killed: %w", context.Cause(ctx))
	}
	return nil
}

// AwaitLogin waits for a credential that the model takes: [login.Credential.AwaitLogin].
func (d *Driver) AwaitLogin(r *executor.Refusal, wake <-chan struct{}, show func(*executor.Pause)) (other *executor.Refusal, ok bool) {
	return d.credential.AwaitLogin(r, wake, show)
}

// Watch looks for another credential: [login.Credential.Watch].
func (d *Driver) Watch() (exchanged func() bool) { return d.credential.Watch() }

// LookAtAccount asks codex for its account: [login.Credential.LookAt].
func (d *Driver) LookAtAccount(ctx context.Context) error { return d.credential.LookAt(ctx) }

// Warm starts the child if it is not there, without waiting for it.
func (d *Driver) Warm() { d.child.Want() }
