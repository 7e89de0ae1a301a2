package execs

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/tenancy"
)

const (
	// firstPause and mostPause are between the end of an exec-server and the next start.
	firstPause = 100 * time.Millisecond
	mostPause  = 10 * time.Second
	// usefulAfter is how long one runs whose end says nothing about the next.
	usefulAfter = 30 * time.Second
	// startTime is what a start may take. It is some 15 ms on a quiet machine.
	startTime = 20 * time.Second
)

var errEnded = errors.New("what this machine had for the runtime has been ended")

// A Server is what runs for one stay of a runtime.
type Server struct {
	all     *Servers
	runtime string
	changed func()
	log     *slog.Logger

	quit    context.Context //nolint:containedctx // its end is that of the server
	quitNow context.CancelFunc
	done    chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex // guards the fields below
	wanted  bool       // the goroutine runs
	now     tenancy.Exec
	number  int
	err     error         // of the last start; nil once one has worked
	tries   int           // starts that have failed
	settled chan struct{} // closed and replaced when a start has worked or failed
}

// Begin returns what runs for a stay of a runtime, of which nothing does yet.
func (s *Servers) Begin(runtime string, changed func()) *Server {
	quit, quitNow := context.WithCancel(context.Background())
	return &Server{
		all: s, runtime: runtime, changed: changed, log: s.log.With("runtime_id", runtime),
		quit: quit, quitNow: quitNow, done: make(chan struct{}), settled: make(chan struct{}),
	}
}

// Exec returns the exec-server that runs. It waits for one that is being started, and has one started if none
// was wanted before.
func (s *Server) Exec(ctx context.Context) (tenancy.Exec, error) {
	s.want()
	s.mu.Lock()
	tries := s.tries
	for {
		now, settled, err, failed := s.now, s.settled, s.err, s.tries != tries
		s.mu.Unlock()
		switch {
		case now.Addr != "":
			return now, nil
		case failed:
			return tenancy.Exec{}, err
		}
		select {
		case <-settled:
		case <-s.quit.Done():
			return tenancy.Exec{}, errEnded
		case <-ctx.Done():
			return tenancy.Exec{}, context.Cause(ctx)
		}
		s.mu.Lock()
	}
}

// Number is that of the exec-server which runs or was the last to; 0 before the first.
func (s *Server) Number() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.number
}

// Trouble is why none can be started; empty where one runs, or none was wanted yet.
func (s *Server) Trouble() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		return ""
	}
	return "codex exec-server does not start on it, and is tried again and again: " + s.err.Error()
}

// want starts the supervision if it has not begun.
func (s *Server) want() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wanted || s.quit.Err() != nil {
		return
	}
	s.wanted = true
	go s.supervise()
}

// supervise is the goroutine that owns the exec-server.
func (s *Server) supervise() {
	defer close(s.done)
	pause := &backoff.ExponentialBackOff{InitialInterval: firstPause, MaxInterval: mostPause, Multiplier: 2, RandomizationFactor: 0.2}
	pause.Reset()
	for s.quit.Err() == nil {
		began := time.Now()
		if p, err := s.start(); err != nil {
			s.failed(err)
		} else {
			s.attend(p)
		}
		if time.Since(began) > usefulAfter {
			pause.Reset()
		}
		sleep.For(s.quit, pause.NextBackOff())
	}
}

// start starts an exec-server and waits until it listens.
func (s *Server) start() (*process, error) {
	ctx, cancel := context.WithTimeoutCause(s.quit, startTime, errors.New("codex exec-server does not listen"))
	defer cancel()
	return s.all.start(ctx, s.runtime, s.log)
}

func (s *Server) failed(err error) {
	if s.quit.Err() != nil {
		return
	}
	s.log.Error("codex exec-server could not be started", "err", err)
	s.mu.Lock()
	s.err, s.tries = err, s.tries+1
	s.settleLocked()
	s.mu.Unlock()
	s.changed()
}

func (s *Server) settleLocked() {
	close(s.settled)
	s.settled = make(chan struct{})
}

// attend holds p as the exec-server that runs, until its end or ours. Then nothing of it is left.
func (s *Server) attend(p *process) {
	s.show(p.exec)
	s.log.Info("codex exec-server is ready", "pid", p.cmd.Process.Pid, "addr", p.exec.Addr)
	select {
	case <-p.exited:
		s.log.Warn("codex exec-server has ended and is started again", "state", p.cmd.ProcessState.String())
	case <-s.quit.Done():
	}
	s.mu.Lock()
	s.now = tenancy.Exec{}
	s.mu.Unlock()
	p.end()
	if err := s.all.killAll(s.quit, s.runtime); err != nil && s.quit.Err() == nil {
		s.log.Error("what an exec-server has left still runs", "err", err)
	}
}

// show has p be the exec-server that runs.
func (s *Server) show(now tenancy.Exec) {
	s.mu.Lock()
	s.number = int(s.all.last.Add(1))
	now.Number = s.number
	s.now, s.err = now, nil
	s.settleLocked()
	s.mu.Unlock()
	s.all.cfg.Started()
	s.changed()
}

// End ends all that runs, and returns when nothing is left, or with what could not be ended.
func (s *Server) End() error {
	s.quitNow()
	s.mu.Lock()
	wanted := s.wanted
	s.mu.Unlock()
	if !wanted { // nothing has been started
		return nil
	}
	<-s.done
	if err := s.all.killAll(context.Background(), s.runtime); err != nil {
		return err
	}
	if err := s.all.removeHome(s.runtime); err != nil {
		s.log.Warn("the home of an exec-server could not be removed", "err", err)
	}
	return nil
}
