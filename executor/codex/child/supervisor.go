package child

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/insist"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

// A state is where the child's life stands.
//
//	down ──want──▶ starting ──▶ ready ──restart, death──▶ stopping ──▶ backoff ──▶ starting …
//	                  └────────────── failed ────────────────────────────▲
//
// Once wanted, the child is kept alive until Close: a death is followed by a
// new start, so that readiness recovers without a message having to fail first.
type state string

const (
	stateDown     state = "down"
	stateStarting state = "starting"
	stateReady    state = "ready"
	stateStopping state = "stopping"
	stateBackoff  state = "backoff"
	stateClosed   state = "closed"
)

// backoffWanted is the longest delay between a death or a failed start and the
// next start while a message waits for the child.
const backoffWanted = time.Second

// Config is what a supervisor goes by.
type Config struct {
	// Codex is how it is started, behind what Prepare says.
	Codex appserver.Config
	// Prepare is asked before each start how that is to be, and which credential is there for it.
	Prepare func(context.Context) (launch Launch, credential string, err error)
	First   func(context.Context) // called before the first start
	Ended   func(*Child)          // called after each child's end, before the next start

	Patience time.Duration // what a call may take that codex answers at once
	Metrics  Metrics
	Logger   *slog.Logger
}

// Metrics counts starts. Implementations must not block.
type Metrics interface {
	ChildStarted()
	ChildRestarted(reason string)
}

// A Supervisor owns the child: one goroutine starts it, waits for its end and
// starts it again. Its methods may be called concurrently.
type Supervisor struct {
	cfg Config
	log *slog.Logger

	quit    context.Context
	quitNow context.CancelFunc
	done    chan struct{} // closed when the goroutine has ended
	killed  atomic.Bool   // end without grace
	wake    chan struct{} // 1-buffered: the child is waited for, so the backoff is cut to its least
	wary    bool          // the codex that started last was unfit; of the goroutine

	mu       sync.Mutex // guards the fields below
	state    state
	since    time.Time
	child    *Child    // nil unless state is stateReady or stateStopping
	started  bool      // the goroutine runs
	failures int       // failed starts so far
	failing  time.Time // of the first failed start since the last that worked; zero if there is none
	lastErr  error     // the last failed start or death; nil after a start
	restarts int
	changed  chan struct{} // closed and replaced at each change of state
}

// NewSupervisor returns a supervisor that has started nothing.
func NewSupervisor(cfg Config) *Supervisor {
	quit, quitNow := context.WithCancel(context.Background())
	return &Supervisor{
		cfg: cfg, log: cfg.Logger,
		quit: quit, quitNow: quitNow, done: make(chan struct{}), wake: make(chan struct{}, 1),
		state: stateDown, since: time.Now(), changed: make(chan struct{}),
	}
}

// Want starts the supervision if it has not begun.
func (s *Supervisor) Want() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started || s.state == stateClosed {
		return
	}
	s.started = true
	go s.supervise()
}

// Get returns the ready child. It waits for one that is being started and
// returns the error of a start that failed while it waited.
func (s *Supervisor) Get(ctx context.Context) (*Child, error) {
	s.Want()
	s.mu.Lock()
	failures := s.failures
	for {
		state, current, changed, lastErr, now := s.state, s.child, s.changed, s.lastErr, s.failures
		s.mu.Unlock()
		switch {
		case state == stateReady && !current.Gone():
			return current, nil
		case state == stateClosed:
			return nil, executor.ErrShutdown
		case now != failures && lastErr != nil: // else one has worked since
			return nil, lastErr
		}
		if state == stateBackoff { // one that waits has the next start come soon
			select {
			case s.wake <- struct{}{}:
			default:
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		s.mu.Lock()
	}
}

// FailingFor is how long starts have failed in a row; 0 if the last one worked.
func (s *Supervisor) FailingFor() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failing.IsZero() {
		return 0
	}
	return time.Since(s.failing)
}

// supervise is the goroutine that owns the child.
func (s *Supervisor) supervise() {
	defer close(s.done)
	s.cfg.First(s.quit)
	delay := insist.BackOff()
	for s.quit.Err() == nil {
		s.unwake()
		s.set(stateStarting, nil, nil)
		if c, err := s.startChild(); err != nil {
			s.fail(err)
		} else if s.attend(c) {
			delay.Reset()
		}
		s.pause(delay.NextBackOff())
	}
	s.set(stateClosed, nil, nil)
}

// unwake forgets who waited for a start that is made now.
func (s *Supervisor) unwake() {
	select {
	case <-s.wake:
	default:
	}
}

func (s *Supervisor) startChild() (*Child, error) {
	launch, credential, err := s.cfg.Prepare(s.quit)
	if err != nil {
		return nil, StartError{err}
	}
	cfg := s.cfg.Codex
	cfg.Args, cfg.Env = slices.Concat(launch.Args, cfg.Args), launch.Env
	began := time.Now()
	client, err := s.startFit(launch, cfg)
	if err != nil {
		return nil, StartError{err}
	}
	s.cfg.Metrics.ChildStarted()
	s.log.Info("codex is ready", "pid", client.Pid(), "version", client.Info().Version())
	c := &Child{Client: client, Launch: launch, Began: began, patience: s.cfg.Patience, log: s.log}
	c.Given(credential)
	return c, nil
}

// attend holds c as the ready child until its end and reports whether it was
// of use: whether a turn ended on it.
func (s *Supervisor) attend(c *Child) (useful bool) {
	s.set(stateReady, c, nil)
	select {
	case <-c.Done():
		if s.quit.Err() == nil {
			s.lost(c)
		}
	case <-s.quit.Done():
		s.set(stateStopping, c, nil)
		if s.killed.Load() {
			c.Kill()
		}
		if err := c.Close(); err != nil {
			s.log.Debug("codex was ended", "err", err)
		}
	}
	s.cfg.Ended(c)
	return c.useful.Load()
}

func (s *Supervisor) lost(c *Child) {
	reason, ok := c.reason.Load().(string)
	if !ok {
		reason = "died"
	}
	s.cfg.Metrics.ChildRestarted(reason)
	s.log.Warn("codex has ended and will be restarted", "reason", reason, "err", c.Err())
	s.mu.Lock()
	s.restarts++
	s.mu.Unlock()
	s.set(stateBackoff, nil, c.Err())
}

func (s *Supervisor) fail(err error) {
	if s.quit.Err() != nil {
		return
	}
	s.log.Error("codex could not be started", "err", err)
	s.mu.Lock()
	s.failures++
	if s.failing.IsZero() {
		s.failing = time.Now()
	}
	s.mu.Unlock()
	s.set(stateBackoff, nil, err)
}

func (s *Supervisor) set(to state, c *Child, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.child, s.since = to, c, time.Now()
	if err != nil || to == stateReady {
		s.lastErr = err
	}
	if to == stateReady {
		s.failing = time.Time{}
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// pause waits out the backoff. A message that waits for the child cuts it to
// the least that lies between two starts.
func (s *Supervisor) pause(d time.Duration) {
	least := min(d, backoffWanted)
	if !sleep.For(s.quit, least) {
		return
	}
	timer := time.NewTimer(d - least)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.wake:
	case <-s.quit.Done():
	}
}

// Close ends the child by the ladder of [appserver.Client.Close], or faster once
// Kill was called, and waits for it.
func (s *Supervisor) Close() {
	s.mu.Lock()
	started := s.started
	if !started {
		s.state = stateClosed
	}
	s.mu.Unlock()
	s.quitNow()
	if started {
		<-s.done
	}
}

// Kill makes the end of the supervision a fast one.
func (s *Supervisor) Kill() {
	s.killed.Store(true)
	s.mu.Lock()
	current := s.child
	s.mu.Unlock()
	if current != nil {
		current.Kill()
	}
}

// Health returns the present child, nil if there is none, and how it is.
func (s *Supervisor) Health() (*Child, executor.ChildHealth) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := executor.ChildHealth{State: string(s.state), Since: s.since, Restarts: s.restarts}
	if s.child != nil {
		h.Pid, h.Version, h.Stats = s.child.Pid(), s.child.Info().Version(), executor.ChildStats(s.child.Stats())
	}
	if s.lastErr != nil {
		h.Error = s.lastErr.Error()
	}
	return s.child, h
}
