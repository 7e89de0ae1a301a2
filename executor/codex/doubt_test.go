package codex_test

import (
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// The tests in this file run turns whose history says that they were interrupted, which
// is true of some.

// TestTurnThatBeginsLate is not taken for one that has ended, whatever its history says.
func TestTurnThatBeginsLate(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", nil)
	end := submit(t, e, "j1", "one", "!begin-late 2500").wait(t)
	wantEnd(t, end, agent.Completed, "")
	if said(end) != "!begin-late 2500" {
		t.Errorf("it says %q", said(end))
	}
	wantAlive(t, e, "one")
}

// TestCancelBeforeItBegins asks codex until the turn has begun, and been ended.
func TestCancelBeforeItBegins(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", func(c *config) { c.Grace = 20 * time.Second })
	w := submit(t, e, "j1", "one", "!begin-late 1500 hang")
	eventually(t, "the turn to start", started(w))
	if err := e.Cancel(t.Context(), "j1"); err != nil {
		t.Fatal(err)
	}
	wantEnd(t, w.wait(t), agent.Canceled, "")
	wantAlive(t, e, "one") // and no part of that turn
	if restarts := e.Health().Child.Restarts; restarts != 0 {
		t.Errorf("codex was restarted %d times", restarts)
	}
}

// TestLostInterruption believes the history when nothing has come of the turn for a while.
func TestLostInterruption(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script, text string
		cancel       bool
		outcome      agent.Outcome
		kind         agent.FailureKind
	}{
		"by-us":         {"", "!hang-lose-end", true, agent.Canceled, ""},
		"by-itself":     {"", "!abort-lose-end", false, agent.Interrupted, agent.FailModel},
		"a-look-failed": {"refuse-first thread/turns/list not now", "!abort-lose-end", false, agent.Interrupted, agent.FailModel},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := onFake(t, c.script, func(c *config) { c.Grace = 2 * time.Second }) // which is shorter than the doubt
			w := submit(t, e, "j1", "one", c.text)
			eventually(t, "the turn to start", started(w))
			if c.cancel {
				if err := e.Cancel(t.Context(), "j1"); err != nil {
					t.Fatal(err)
				}
			}
			wantEnd(t, w.wait(t), c.outcome, c.kind)
			wantAlive(t, e, "one")
			if restarts := e.Health().Child.Restarts; restarts != 0 {
				t.Errorf("codex was restarted %d times", restarts)
			}
		})
	}
}
