package executor

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
)

// A driver has codex carry turns out.
type driver struct {
	cfg   Config
	log   *slog.Logger
	child *supervisor
	host  host
	root  context.Context // ends with errShutdown

	toolSet  string   // of cfg.Thread.DynamicTools
	versions versions // of the instructions
	account  account
	limits   limits

	reading   sync.Mutex // held while a large request of codex is read
	writable  writable
	networked atomic.Bool            // commands of some thread have the network in their sandbox
	keyName   atomic.Pointer[string] // as the last start had it; nil before the first, and without Config.Prepare
	restart   atomic.Pointer[string] // why codex is to be restarted when no turn runs; nil if it is not

	wg sync.WaitGroup // what it has started by itself

	mu            sync.Mutex // guards the fields below; taken under Executor.mu
	closed        bool
	conversations map[string]*conversation
	threads       map[string]bool          // every thread of ours, whose commands end with the child
	away          map[string]chan struct{} // closed when the thread, which came too late, is put away
	inquiries     map[string]*inquiry      // by the thread on which an attempt is made
	agents        subagents
}

func newDriver(root context.Context, cfg Config) *driver {
	return &driver{
		cfg:           cfg,
		log:           cfg.Logger,
		root:          root,
		toolSet:       toolSet(cfg.Thread.DynamicTools),
		conversations: map[string]*conversation{},
		threads:       map[string]bool{},
		away:          map[string]chan struct{}{},
		inquiries:     map[string]*inquiry{},
		agents:        newAgents(),
	}
}

// rest starts nothing more by itself, and waits until what it has started has ended.
func (d *driver) rest() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.wg.Wait()
}
