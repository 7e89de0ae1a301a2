package executor_test

import (
	"context"
	"errors"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// A child is one process of the agent.
type child struct {
	died   chan struct{}
	killed bool
}

// A startEnd is how a start of the agent ends.
type startEnd int

const (
	startWell startEnd = iota
	startFails
	startIsKilled
)

func (a *scripted) Ready(ctx context.Context) error {
	_, err := a.ready(ctx)
	return err
}

func (a *scripted) ready(ctx context.Context) (*child, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	a.mu.Lock()
	if on := a.child; on != nil {
		a.mu.Unlock()
		return on, nil
	}
	if a.starting == nil {
		a.started++
		a.starting = &startup{over: make(chan struct{})}
		go a.start(a.started, a.starting)
	}
	s := a.starting
	a.mu.Unlock()
	select {
	case <-s.over:
		return s.child, s.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// A startup is one start of the agent.
type startup struct {
	over  chan struct{} // closed at its end
	child *child
	err   error
}

// start makes one start. One that fails takes a second.
func (a *scripted) start(n int, s *startup) {
	defer close(s.over)
	end := startWell
	if a.starts != nil {
		end = a.starts(n)
	}
	if end != startWell {
		select {
		case <-time.After(time.Second):
		case <-a.root.Done():
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.starting = nil
	if end == startWell {
		s.child = &child{died: make(chan struct{})}
		a.child, a.failing = s.child, time.Time{}
		return
	}
	if a.failing.IsZero() {
		a.failing = time.Now()
	}
	failed := trouble(executor.Unstarted, "the agent does not start")
	failed.Killed, failed.Failing = end == startIsKilled, time.Since(a.failing)
	s.err = failed
}

// die ends the process of the agent, by itself or by a kill.
func (a *scripted) die(killed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.child != nil {
		a.child.killed = killed
		close(a.child.died)
		a.child = nil
	}
}

// trouble is that the agent fails.
func trouble(kind executor.TroubleKind, words string) *executor.Trouble {
	failure := &agent.Failure{Kind: agent.FailUnreachable, Message: words}
	return &executor.Trouble{Kind: kind, Err: errors.New(words), End: agent.Ended{Outcome: agent.Failed, Failure: failure}}
}

// vanishes has the agent end over each message, before that has become a turn.
func vanishes(killed bool) func(*session, executor.Order) error {
	return func(s *session, _ executor.Order) error {
		s.a.die(killed)
		return s.a.ended(s.on, executor.WasCut)
	}
}

// ended is the trouble of a child that is gone.
func (a *scripted) ended(on *child, kind executor.TroubleKind) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	gone := trouble(kind, "the agent has died")
	gone.Killed = on.killed
	return gone
}
