package codex

import (
	"context"
	"errors"
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

// A childState is where the child's life stands.
//
//	down ──want──▶ starting ──▶ ready ──restart, death──▶ stopping ──▶ backoff ──▶ starting …
//	                  └────────────── failed ────────────────────────────▲
//
// Once wanted, the child is kept alive until close: a death is followed by a
// new start, so that readiness recovers without a message having to fail first.
type childState string

const (
	childDown     childState = "down"
	childStarting childState = "starting"
	childReady    childState = "ready"
	childStopping childState = "stopping"
	childBackoff  childState = "backoff"
	childClosed   childState = "closed"
)

// backoffWanted is the longest delay between a death or a failed start and the
// next start while a message waits for the child.
const backoffWanted = time.Second

// A child is one run of codex app-server.
type child struct {
	*appserver.Client
	useful atomic.Bool            // a turn ended on it, so its death does not lengthen the backoff
	reason atomic.Value           // string: why we killed it, if we did
	launch Launch                 // how it was started
	began  time.Time              // its start
	lately sides                  // threads that it has been told to unload
	whose  atomic.Pointer[string] // the credential that it has read, see Executor.whose
	passed atomic.Bool            // it is to be started anew, for another credential
}

// settled returns err, after the child's end if that is what err reports: a
// child whose output has ended is dead, but it may not have been reaped yet.
func (c *child) settled(err error) error {
	if _, ended := errors.AsType[*appserver.ExitError](err); ended {
		<-c.Done()
	}
	return err
}

func (c *child) gone() bool {
	select {
	case <-c.Done():
		return true
	default:
		return false
	}
}

// reasonDeaf is why a child that answers nothing is restarted.
const reasonDeaf = "does not answer"

// reasonHeldUp is why a child is restarted of which another process holds the locks.
const reasonHeldUp = "held up"

// restart ends the child because of reason; the supervisor starts the next.
func (c *child) restart(reason string) {
	c.reason.CompareAndSwap(nil, reason)
	c.Kill()
}

// A supervisor owns the child: one goroutine starts it, waits for its end and
// starts it again. Its methods may be called concurrently.
type supervisor struct {
	cfg     appserver.Config
	prepare func(context.Context) (Launch, error)
	first   func(context.Context) // called before the first start
	clean   func(*child)          // called after each child's end, before the next start
	metrics Metrics
	log     *slog.Logger

	quit    context.Context
	quitNow context.CancelFunc
	done    chan struct{} // closed when the goroutine has ended
	killed  atomic.Bool   // end without grace
	wake    chan struct{} // 1-buffered: somebody waits for the child, so the backoff is cut to its least

	mu       sync.Mutex // guards the fields below
	state    childState
	since    time.Time
	child    *child    // nil unless state is childReady or childStopping
	started  bool      // the goroutine runs
	failures int       // failed starts so far
	failing  time.Time // of the first failed start since the last that worked; zero if there is none
	lastErr  error     // the last failed start or death; nil after a start
	restarts int
	changed  chan struct{} // closed and replaced at each change of state
}

func newSupervisor(d *Driver) *supervisor {
	quit, quitNow := context.WithCancel(context.Background())
	return &supervisor{
		cfg: d.childConfig(), prepare: d.prepare, first: d.firstStart, clean: d.childEnded, metrics: d.cfg.Metrics, log: d.log,
		quit: quit, quitNow: quitNow, done: make(chan struct{}), wake: make(chan struct{}, 1),
		state: childDown, since: time.Now(), changed: make(chan struct{}),
	}
}

// want starts the supervision if it has not begun.
func (s *supervisor) want() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started || s.state == childClosed {
		return
	}
	s.started = true
	go s.supervise()
}

// get returns the ready child. It waits for one that is being started and
// returns the error of a start that failed while it waited.
func (s *supervisor) get(ctx context.Context) (*child, error) {
	s.want()
	s.mu.Lock()
	failures := s.failures
	for {
		state, current, changed, lastErr, now := s.state, s.child, s.changed, s.lastErr, s.failures
		s.mu.Unlock()
		switch {
		case state == childReady && !current.gone():
			return current, nil
		case state == childClosed:
			return nil, executor.ErrShutdown
		case now != failures && lastErr != nil: // else one has worked since
			return nil, lastErr
		}
		if state == childBackoff { // one that waits has the next start come soon
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

// failingFor is how long starts have failed in a row; 0 if the last one worked.
func (s *supervisor) failingFor() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failing.IsZero() {
		return 0
	}
	return time.Since(s.failing)
}

// supervise is the goroutine that owns the child.
func (s *supervisor) supervise() {
	defer close(s.done)
	s.first(s.quit)
	delay := insist.BackOff()
	for s.quit.Err() == nil {
		s.unwake()
		s.set(childStarting, nil, nil)
		if c, err := s.startChild(); err != nil {
			s.fail(err)
		} else if s.attend(c) {
			delay.Reset()
		}
		s.pause(delay.NextBackOff())
	}
	s.set(childClosed, nil, nil)
}

// unwake forgets who waited for a start that is made now.
func (s *supervisor) unwake() {
	select {
	case <-s.wake:
	default:
	}
}

// A startError reports that the child could not be started, whatever way it
// failed in.
type startError struct{ error }

func (e startError) Unwrap() error { return e.error }

func (s *supervisor) startChild() (*child, error) {
	launch, err := s.prepare(s.quit)
	if err != nil {
		return nil, startError{err}
	}
	cfg := s.cfg
	cfg.Args, cfg.Env = slices.Concat(launch.Args, cfg.Args), launch.Env
	began := time.Now()
	client, err := appserver.Start(s.quit, cfg)
	if err != nil {
		return nil, startError{err}
	}
	s.metrics.ChildStarted()
	s.log.Info("codex is ready", "pid", client.Pid(), "version", client.Info().Version())
	c := &child{Client: client, launch: launch, began: began}
	c.whose.Store(&launch.whose)
	return c, nil
}

// attend holds c as the ready child until its end and reports whether it was
// of use: whether a turn ended on it.
func (s *supervisor) attend(c *child) (useful bool) {
	s.set(childReady, c, nil)
	select {
	case <-c.Done():
		if s.quit.Err() == nil {
			s.lost(c)
		}
	case <-s.quit.Done():
		s.set(childStopping, c, nil)
		if s.killed.Load() {
			c.Kill()
		}
		if err := c.Close(); err != nil {
			s.log.Debug("codex was ended", "err", err)
		}
	}
	s.clean(c)
	return c.useful.Load()
}

func (s *supervisor) lost(c *child) {
	reason, ok := c.reason.Load().(string)
	if !ok {
		reason = "died"
	}
	s.metrics.ChildRestarted(reason)
	s.log.Warn("codex has ended and will be restarted", "reason", reason, "err", c.Err())
	s.mu.Lock()
	s.restarts++
	s.mu.Unlock()
	s.set(childBackoff, nil, c.Err())
}

func (s *supervisor) fail(err error) {
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
	s.set(childBackoff, nil, err)
}

func (s *supervisor) set(state childState, c *child, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.child, s.since = state, c, time.Now()
	if err != nil || state == childReady {
		s.lastErr = err
	}
	if state == childReady {
		s.failing = time.Time{}
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// pause waits out the backoff. A message that waits for the child cuts it to
// the least that lies between two starts.
func (s *supervisor) pause(d time.Duration) {
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

// close ends the child by the ladder of [appserver.Client.Close], or faster once
// kill was called, and waits for it.
func (s *supervisor) close() {
	s.mu.Lock()
	started := s.started
	if !started {
		s.state = childClosed
	}
	s.mu.Unlock()
	s.quitNow()
	if started {
		<-s.done
	}
}

// kill makes the end of the supervision a fast one.
func (s *supervisor) kill() {
	s.killed.Store(true)
	s.mu.Lock()
	current := s.child
	s.mu.Unlock()
	if current != nil {
		current.Kill()
	}
}

// health returns the present child, nil if there is none, and how it is.
func (s *supervisor) health() (*child, executor.ChildHealth) {
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
