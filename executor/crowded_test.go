package executor_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// crowding has the turns of context "one" find no room until opened, which it makes, is closed, for a minute at most.
func crowding(made *chan struct{}) func(*executor.Config, *scripted) {
	return func(c *executor.Config, a *scripted) {
		opened := make(chan struct{}) // of simulated time
		c.MaxTurns, *made = 1, opened
		a.prepare = func(context string, _ int) error {
			select {
			case <-opened:
				return nil
			default:
			}
			if context != "one" {
				return nil
			}
			full := trouble(executor.Crowded, "all machines are full")
			full.Room, full.Until = opened, time.Now().Add(time.Minute)
			return full
		}
	}
}

// TestRoomComes: a message that finds no room is told what it waits for, leaves its slot to others, and has its turn when
// there is room, before those behind it.
func TestRoomComes(t *testing.T) {
	t.Parallel()
	var opened chan struct{}
	simulated(t, crowding(&opened), func(t *testing.T, e *rig) {
		first, second := e.submit("j1", "one"), e.submit("j2", "one")
		e.submit("j3", "two").completes()
		synctest.Wait() // j3 gives its slot back behind its end
		if h := e.Health(); h.Running != 0 {
			t.Errorf("%d run", h.Running)
		}
		time.AfterFunc(30*time.Second, func() { close(opened) })
		began := time.Now()
		first.completes()
		second.completes()
		if took := time.Since(began); took < 30*time.Second || took > 35*time.Second {
			t.Errorf("it has waited for %v", took)
		}
		if notices := seen[agent.Paused](first); len(notices) != 1 || !strings.HasPrefix(notices[0].Text, "all machines are full. This message keeps") {
			t.Errorf("notices %+v", notices)
		}
	})
}

// TestNoRoomComes: the wait has an end, and the message says for what it has waited. One that is canceled is that at once.
func TestNoRoomComes(t *testing.T) {
	t.Parallel()
	simulated(t, crowding(new(chan struct{})), func(t *testing.T, e *rig) {
		began := time.Now()
		waited := e.submit("j1", "one")
		waited.ends(agent.Failed, agent.FailUnreachable)
		if ended := seen[agent.Ended](waited); !strings.HasSuffix(ended[0].Failure.Message, "The message has waited 1m0s for room") {
			t.Errorf("it has ended %+v", ended[0].Failure)
		}
		if took := time.Since(began); took < time.Minute || took > 65*time.Second {
			t.Errorf("it has waited for %v", took)
		}
		second := e.submit("j2", "one")
		time.AfterFunc(time.Second, func() {
			if err := e.Cancel(t.Context(), "j2"); err != nil {
				t.Error(err)
			}
		})
		second.ends(agent.Canceled, "")
	})
}
