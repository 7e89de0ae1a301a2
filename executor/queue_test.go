package executor_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// wantAhead submits a job, and checks how many are ahead of it.
func (e *rig) wantAhead(id, context string, want int) {
	e.t.Helper()
	ahead, err := e.Submit(jobOf(id, context, nil), func(agent.Event) {})
	if err != nil || ahead != want {
		e.t.Errorf("Submit %s = %d, %v, want %d ahead", id, ahead, err, want)
	}
	synctest.Wait()
}

func (e *rig) wantRefusal(what string, id, context string, want error) {
	e.t.Helper()
	if _, err := e.offer(id, context); !errors.Is(err, want) {
		e.t.Errorf("%s: %v", what, err)
	}
}

func TestQueueKeepsOrder(t *testing.T) {
	t.Parallel()
	simulated(t, nil, func(t *testing.T, e *rig) {
		var ids []string
		var all []*witness
		for i := range 5 {
			ids = append(ids, fmt.Sprint("j", i))
			all = append(all, e.submit(ids[i], "one"))
		}
		for i, w := range all {
			if got := said(w.completes()); got != ids[i] {
				t.Errorf("job %d was answered %q", i, got)
			}
		}
		if order := e.agent.order(); !slices.Equal(order, ids) {
			t.Errorf("the turns were of %v", order)
		}
	})
}

func TestBounds(t *testing.T) {
	t.Parallel()
	simulated(t, func(c *executor.Config, _ *scripted) { c.MaxQueue, c.MaxWaiting = 2, 3 }, func(_ *testing.T, e *rig) {
		e.stays("j0", "one").starts()
		e.wantAhead("q0", "one", 1)
		e.wantAhead("q1", "one", 2)
		e.wantRefusal("one too many in a context", "q2", "one", executor.ErrQueueFull)
		e.wantRefusal("an id that is there", "q0", "two", executor.ErrDuplicate)
	})
}

// TestGlobalBound counts the jobs that wait for a slot, over all contexts.
func TestGlobalBound(t *testing.T) {
	t.Parallel()
	simulated(t, func(c *executor.Config, _ *scripted) { c.MaxTurns, c.MaxWaiting = 1, 3 }, func(t *testing.T, e *rig) {
		e.stays("j0", "zero").starts()
		for i, want := range []int{1, 2, 3} {
			e.wantAhead(fmt.Sprint("c", i), fmt.Sprint("c", i), want)
			if n := e.Health().Waiting; n != want {
				t.Errorf("%d wait, want %d", n, want)
			}
		}
		e.wantRefusal("one too many over all contexts", "more", "more", executor.ErrQueueFull)
		if health := e.Health(); health.Running != 1 || health.Waiting != 3 {
			t.Errorf("health = %+v, want 1 running and 3 waiting", health)
		}
	})
}

func TestCancelWhileQueued(t *testing.T) {
	t.Parallel()
	simulated(t, nil, func(t *testing.T, e *rig) {
		e.stays("j1", "one").starts()
		waiting := e.submit("j2", "one")
		e.cancel("j2")
		waiting.ends(agent.Canceled, "")
		if len(waiting.events) != 1 {
			t.Errorf("events = %+v, want the end alone", waiting.events)
		}
		e.cancel("j2") // what has ended
	})
}

// TestTurnsAreBounded runs more contexts than there are slots.
func TestTurnsAreBounded(t *testing.T) {
	t.Parallel()
	simulated(t, func(c *executor.Config, _ *scripted) { c.MaxTurns = 2 }, func(t *testing.T, e *rig) {
		e.hanging("h1")
		e.hanging("h2")
		third := e.submit("j3", "three")
		synctest.Wait()
		if len(seen[agent.Started](third)) != 0 {
			t.Error("a third turn started although two may")
		}
		e.cancel("h1")
		third.completes()
	})
}

// TestCloseEndsEverything ends running and waiting jobs, and refuses new ones.
func TestCloseEndsEverything(t *testing.T) {
	t.Parallel()
	simulated(t, nil, func(_ *testing.T, e *rig) {
		turn := e.stays("j1", "one").starts()
		waiting := e.submit("j2", "one")
		e.close()
		turn.ends(agent.Interrupted, agent.FailShutdown)
		waiting.ends(agent.Interrupted, agent.FailShutdown)
		e.wantRefusal("a job after Close", "j3", "one", executor.ErrClosed)
	})
}

// TestNothingBeginsBehindAClose has the one slot be free when a close has begun, and has not reached those that wait
// for the slot yet: it reaches one after the other.
func TestNothingBeginsBehindAClose(t *testing.T) {
	t.Parallel()
	simulated(t, func(c *executor.Config, _ *scripted) { c.MaxTurns = 1 }, func(t *testing.T, e *rig) {
		over := make(chan struct{})
		e.agent.script("j1", play{waits(over)})
		first := e.submit("j1", "one").starts()
		waiting := []*witness{e.submit("j2", "one"), e.submit("j3", "three"), e.submit("j4", "four")}
		e.BeginClose()
		close(over)
		first.completes()
		for _, w := range waiting {
			w.waits()
		}
		e.close()
		for _, w := range waiting {
			w.ends(agent.Interrupted, agent.FailShutdown)
		}
		if order := e.agent.order(); !slices.Equal(order, []string{"j1"}) {
			t.Errorf("the turns were of %v", order)
		}
	})
}

// TestRefusedJobsLeaveNothing floods a full executor with contexts of their own.
func TestRefusedJobsLeaveNothing(t *testing.T) { // alone: it measures what all of the process holds
	e := executor.New(executor.Config{MaxWaiting: -1}, newScripted(&past{}))
	measure := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := measure()
	for i := range 50_000 {
		job := executor.Job{ID: fmt.Sprint(i), Context: fmt.Sprintf("context-%d", i)}
		if _, err := e.Submit(job, nil); !errors.Is(err, executor.ErrQueueFull) {
			t.Fatal(err)
		}
	}
	if grown := int64(measure()) - int64(before); grown > 2<<20 {
		t.Errorf("50,000 refused jobs left %d bytes", grown)
	}
	runtime.KeepAlive(e)
}
