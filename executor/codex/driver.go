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

	toolSet  string        // of cfg.Thread.DynamicTools
	versions told.Versions // of the instructions
	account  account
	failures *failure.Reader
	guard    *sandbox.Guard

	reading sync.Mutex             // held while a large request of codex is read
	login   atomic.Pointer[login]  // that the jobs which wait are told of, or nil
	keyName atomic.Pointer[string] // as the last start had it; nil before the first, and without Config.Prepare
	restart atomic.Pointer[string] // why codex is to be restarted when no turn runs; nil if it is not

	wg sync.WaitGroup // what it has started by itself

	mu            sync.Mutex // guards the fields below; taken under the locks of the scheduler
	closed        bool
	conversations map[string]*conversation
	threads       map[string]bool          // every thread of ours, whose commands end with the child
	away          map[string]chan struct{} // closed when the thread, which came too late, is put away
	inquiries     map[string]*inquiry      // by the thread on which an attempt is made
	agents        subagents
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
		inquiries:     map[string]*inquiry{},
		agents:        newAgents(),
	}
	d.child = child.NewSupervisor(child.Config{
		Codex: d.childConfig(), Prepare: d.prepare, First: d.firstStart, Ended: d.childEnded,
		Patience: cfg.Patience, Metrics: cfg.Metrics, Logger: d.log,
	})
	return d
}

// Serve implements [executor.Driver], as do the methods below.
func (d *Driver) Serve(ctx context.Context, host executor.Host) {
	d.root, d.host = ctx, host
	if d.cfg.RefreshEvery > 0 {
		d.wg.Go(d.refresh)
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

// rest starts nothing more by itself, and waits until what it has started has ended.
func (d *Driver) rest() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.wg.Wait()
}

// Warm starts the child if it is not there, without waiting for it.
func (d *Driver) Warm() { d.child.Want() }
