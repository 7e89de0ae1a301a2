package executor_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// A library lends other words than it is given, and counts what is out.
type library struct {
	mu        sync.Mutex
	lent, out int
}

// lends has a job lend from it.
func (l *library) lends(j *executor.Job) {
	j.Lend = func(_ context.Context, input []agent.Input) ([]agent.Input, func()) {
		l.count(1, 1)
		lent := make([]agent.Input, 0, len(input))
		for _, in := range input {
			lent = append(lent, agent.Text("lent "+in.Text))
		}
		return lent, func() { l.count(0, -1) }
	}
}

func (l *library) count(lent, out int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lent, l.out = l.lent+lent, l.out+out
}

// want checks how often something was lent, and how much of it is out.
func (l *library) want(t *testing.T, lent, out int) {
	t.Helper()
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lent != lent || l.out != out {
		t.Errorf("lent %d times, and %d are out; want %d and %d", l.lent, l.out, lent, out)
	}
}

// lendsUntil has a job lend until that is not wanted any more, and says when it begins, and when all is given back.
func lendsUntil(begun, back chan<- struct{}) change {
	return func(j *executor.Job) {
		j.Lend = func(ctx context.Context, input []agent.Input) ([]agent.Input, func()) {
			begun <- struct{}{}
			<-ctx.Done()
			return input, func() { back <- struct{}{} }
		}
	}
}

// TestLend gives the agent what is lent, for a turn of its own and for one that the message is
// handed to, until the turn has ended.
func TestLend(t *testing.T) {
	t.Parallel()
	simulated(t, nil, func(t *testing.T, e *rig) {
		over := make(chan struct{})
		e.agent.script("own", play{waits(over)})
		var own, handed library
		w := e.submit("own", "one", own.lends).starts()
		s := e.steer("own", "handed", "one", handed.lends)
		has[agent.Steered](s, 1)
		own.want(t, 1, 1)
		handed.want(t, 1, 1)
		close(over)
		if end := w.completes(); said(end) != "lent own\nlent handed" {
			t.Errorf("the agent was told %q", said(end))
		}
		own.want(t, 1, 0)
		handed.want(t, 1, 0)
	})
}

// TestLendAgain: each attempt is lent its own, and what the agent dies with is given back.
func TestLendAgain(t *testing.T) {
	t.Parallel()
	simulated(t, nil, func(t *testing.T, e *rig) {
		var l library
		e.agent.script("j1", play{diesEarly(false)})
		e.submit("j1", "one", l.lends).wait()
		l.want(t, 3, 0)
	})
}

// TestCancelWhileLent: a cancel does not wait until all is lent, the agent is not asked, and
// what was lent is given back.
func TestCancelWhileLent(t *testing.T) {
	t.Parallel()
	simulated(t, nil, func(t *testing.T, e *rig) {
		begun, back := make(chan struct{}), make(chan struct{}, 1)
		w := e.submit("j1", "one", lendsUntil(begun, back))
		<-begun
		e.cancel("j1")
		w.ends(agent.Canceled, "")
		<-back
		if n := e.agent.asked("j1"); n > 0 {
			t.Error("the agent was given the message")
		}
	})
}

// TestTurnEndsWhileLent: the end of a turn does not wait until all is lent of a message that
// is handed to it.
func TestTurnEndsWhileLent(t *testing.T) {
	t.Parallel()
	simulated(t, nil, func(t *testing.T, e *rig) {
		w := e.stays("own", "one").starts()
		begun, back := make(chan struct{}, 9), make(chan struct{}, 9)
		s := e.steer("own", "handed", "one", lendsUntil(begun, back))
		<-begun
		e.cancel("own")
		w.ends(agent.Canceled, "")
		e.cancel("handed")
		if end := s.wait(); strings.Contains(said(end), "handed") {
			t.Errorf("end = %+v", end)
		}
	})
}
