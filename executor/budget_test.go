package executor_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// stays submits a job that has not ended soon, of a size, and fails the test if it is refused.
func (e *rig) stays(id, context string, changes ...change) *witness {
	e.t.Helper()
	e.agent.script(id, play{hangs})
	return e.submit(id, context, changes...)
}

// wantRefused submits a job for which there is no room.
func (e *rig) wantRefused(id, context, word string, changes ...change) {
	e.t.Helper()
	_, err := e.offer(id, context, changes...)
	for _, err := range []error{err, e.Refuses(jobOf(id, context, changes))} {
		if !errors.Is(err, executor.ErrQueueFull) || !strings.Contains(err.Error(), word) {
			e.t.Errorf("%s: %v, want it refused with %q", id, err, word)
		}
	}
}

func (e *rig) wantBytes(n int64) {
	e.t.Helper()
	if got := e.Health().Bytes; got != n {
		e.t.Errorf("%d bytes are counted, want %d", got, n)
	}
}

// bytes has the jobs take so many bytes at the most, and one turn run.
func bytes(n int64) func(*executor.Config, *scripted) {
	return func(c *executor.Config, _ *scripted) { c.MaxTurns, c.MaxBytes = 1, n }
}

// TestBytesAreBounded over all contexts, and so that none of them takes what is there for all.
func TestBytesAreBounded(t *testing.T) {
	t.Parallel()
	simulated(t, bytes(1000), func(_ *testing.T, e *rig) {
		e.stays("first", "first", sized(100))
		e.stays("a1", "a", sized(240))
		e.wantRefused("a2", "a", "in this context", sized(20)) // beyond the share of a context
		e.stays("a2", "a", sized(10))
		e.stays("b1", "b", sized(600)) // larger than a share, but the first there
		e.wantRefused("c1", "c", "over all contexts", sized(51))
		e.stays("c1", "c", sized(50))
		e.wantBytes(1000)
	})
}

// TestOtherAgentsLeaveRoom: of what may wait a quarter is kept for the user, in number and
// in bytes, and of the turns that may run one.
func TestOtherAgentsLeaveRoom(t *testing.T) {
	t.Parallel()
	two := func(c *executor.Config, _ *scripted) { c.MaxTurns, c.MaxWaiting = 2, 8 }
	t.Run("number", func(t *testing.T) {
		t.Parallel()
		simulated(t, two, func(t *testing.T, e *rig) {
			var last *witness
			for i := range 6 {
				last = e.stays(fmt.Sprint("p", i), fmt.Sprint("p", i), peer)
			}
			e.wantRefused("p6", "p6", "of other agents", peer)
			e.submit("user", "user").completes()
			synctest.Wait()
			if slots := e.Health().Slots; slots.Working != 1 {
				t.Errorf("beside the user's turn: %+v", slots)
			}
			e.cancel("p5")
			last.ends(agent.Canceled, "")
			e.stays("p6", "p6", peer)
		})
	})
	t.Run("bytes", func(t *testing.T) {
		t.Parallel()
		simulated(t, bytes(1000), func(_ *testing.T, e *rig) {
			for i := range 3 {
				e.stays(fmt.Sprint("p", i), fmt.Sprint("p", i), peer, sized(250))
			}
			e.wantRefused("p3", "p3", "of other agents", peer, sized(1))
			e.stays("user", "user", sized(250))
		})
	})
}

// TestBytesAreGivenBack with the end of a job, however it ends: a sender that is told of the end has
// room for the next one.
func TestBytesAreGivenBack(t *testing.T) {
	t.Parallel()
	simulated(t, bytes(1000), func(t *testing.T, e *rig) {
		e.stays("huge", "huge", sized(5000)) // larger than the bound, with nothing else there
		e.wantRefused("next", "next", "RUNTIME_MAX_QUEUE_MIB", sized(1))
		w := e.stays("old", "huge", sized(5000), accepted)
		e.wantBytes(10_000)
		e.cancel("old")  // in the queue
		e.cancel("huge") // in its turn
		w.ends(agent.Canceled, "")
		e.wantBytes(0)
		next := make(chan error, 1)
		ending := func(event agent.Event) {
			if _, ok := event.(agent.Ended); ok {
				_, err := e.offer("after", "after", sized(900))
				next <- err
			}
		}
		if _, err := e.Submit(executor.Job{ID: "done", Context: "done", Size: 900}, ending); err != nil {
			t.Fatal(err)
		}
		if err := <-next; err != nil {
			t.Errorf("at the end of the one before: %v", err)
		}
	})
}

// TestBytesOfAFailedStart are given back, too.
func TestBytesOfAFailedStart(t *testing.T) {
	t.Parallel()
	never := func(c *executor.Config, a *scripted) {
		c.MaxBytes, a.starts = 10, func(int) startEnd { return startFails }
	}
	simulated(t, never, func(_ *testing.T, e *rig) {
		e.submit("j1", "one", sized(10)).ends(agent.Failed, agent.FailUnreachable)
		e.wantBytes(0)
	})
}

// TestBytesOfSteeredMessages count until the end of the turn that they went into.
func TestBytesOfSteeredMessages(t *testing.T) {
	t.Parallel()
	simulated(t, bytes(400), func(t *testing.T, e *rig) {
		e.stays("j1", "one", sized(10)).starts()
		e.steer("j1", "s1", "one", sized(90))
		more := jobOf("s2", "one", []change{sized(1)})
		if err := e.Steer("j1", more, func(agent.Event) {}); !errors.Is(err, executor.ErrQueueFull) || !strings.Contains(err.Error(), "in this context") {
			t.Errorf("a message beyond the share: %v", err)
		}
		e.cancel("j1")
		synctest.Wait()
		e.wantBytes(0)
	})
}
