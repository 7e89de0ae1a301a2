package executor_test

import (
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// preparing has the first preparations of a context fail.
func preparing(fails int, with executor.Trouble) func(*executor.Config, *scripted) {
	return func(_ *executor.Config, a *scripted) {
		a.prepare = func(_ string, n int) error {
			if n > fails {
				return nil
			}
			return &with
		}
	}
}

// TestRefusedForTheMoment offers a message again that the agent has certainly not taken, after the time that is to lie
// between.
func TestRefusedForTheMoment(t *testing.T) {
	t.Parallel()
	busy := *trouble(executor.Passing, "too much to do")
	busy.Wait = time.Minute
	t.Run("twice", func(t *testing.T) {
		t.Parallel()
		simulated(t, preparing(2, busy), func(t *testing.T, e *rig) {
			began := time.Now()
			e.submit("j1", "one").completes()
			if took := time.Since(began); took != 2*time.Minute {
				t.Errorf("it took %s", took)
			}
		})
	})
	t.Run("each time", func(t *testing.T) {
		t.Parallel()
		simulated(t, preparing(3, busy), func(t *testing.T, e *rig) {
			end := e.submit("j1", "one").ends(agent.Failed, agent.FailUnreachable)
			if end.Failure.Message != "too much to do" {
				t.Errorf("it says %q", end.Failure.Message)
			}
			e.submit("j2", "one").completes()
		})
	})
	t.Run("and canceled", func(t *testing.T) {
		t.Parallel()
		simulated(t, preparing(1, busy), func(t *testing.T, e *rig) {
			w, began := e.submit("j1", "one"), time.Now()
			time.Sleep(time.Second)
			e.cancel("j1")
			if w.ends(agent.Canceled, ""); time.Since(began) != time.Second {
				t.Errorf("it took %s", time.Since(began))
			}
		})
	})
}

// TestRefusedForGood ends a message at once that the agent will not have.
func TestRefusedForGood(t *testing.T) {
	t.Parallel()
	simulated(t, preparing(1, *trouble(executor.Lasting, "no such model")), func(t *testing.T, e *rig) {
		if end := e.submit("j1", "one").ends(agent.Failed, agent.FailUnreachable); end.Failure.Message != "no such model" {
			t.Errorf("it says %q", end.Failure.Message)
		}
		e.submit("j2", "one").completes()
	})
}
