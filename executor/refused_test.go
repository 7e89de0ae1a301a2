package executor_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// unauthorized is that the credential is refused.
func unauthorized() *executor.Refusal {
	return &executor.Refusal{Kind: agent.FailAuth, Code: "unauthorized", Why: "bad key", Status: http.StatusUnauthorized}
}

// forbidden is the same, or something that only one message says.
func forbidden() *executor.Refusal {
	return &executor.Refusal{Kind: agent.FailAuth, Code: "unauthorized", Why: "not for you (403)", Status: http.StatusForbidden}
}

// TestHeldWhileItWaitsForASlot closes the hold on a job that is next.
func TestHeldWhileItWaitsForASlot(t *testing.T) {
	t.Parallel()
	simulated(t, narrow, func(t *testing.T, e *rig) {
		refuse := make(chan struct{})
		e.agent.refuses(unauthorized())
		e.agent.script("j1", play{waits(refuse)})
		first := e.submit("j1", "one").starts()
		next := e.submit("j2", "two")
		close(refuse)
		has[agent.Paused](first, 1)
		has[agent.Paused](next, 1)
		if h := e.Health(); h.Running != 0 || h.Waiting != 2 || h.Hold == nil || h.Hold.Kind != agent.FailAuth {
			t.Errorf("health = %+v", h)
		}
		if n := e.agent.asked("j2"); n != 0 {
			t.Errorf("the agent was given the next %d times", n)
		}
	})
}

// TestHeldJobsGoOn when a probe shows that the model answers, in their order.
func TestHeldJobsGoOn(t *testing.T) {
	t.Parallel()
	simulated(t, nil, func(t *testing.T, e *rig) {
		e.agent.refuses(unauthorized())
		first, behind, other := e.submit("j1", "one"), e.submit("j2", "one"), e.submit("j3", "three")
		has[agent.Paused](first, 1)
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := e.agent.asked("j1") + e.agent.asked("j2") + e.agent.asked("j3"); n > 2 {
			t.Errorf("the agent was given messages %d times, at most one of each context is to find out", n)
		}
		e.agent.refuses(nil)
		for _, w := range []*witness{first, behind, other} {
			w.completes()
			if paused, over := seen[agent.Paused](w), seen[agent.Resumed](w); len(paused) != 1 || len(over) != 1 {
				t.Errorf("told %+v, and %d times that it is over", paused, len(over))
			}
		}
		if e.Held() != "" || e.Health().Hold != nil {
			t.Errorf("held: %s", e.Held())
		}
	})
}

// TestRefusedInMidTurn: the job has its failure, for a tool has run, and all others wait.
func TestRefusedInMidTurn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		by    func() *executor.Refusal
		kind  agent.FailureKind
		words string
	}{
		"401":         {unauthorized, agent.FailAuth, "after tools had run"},
		"429":         {tooMany, agent.FailLimit, "try again in a minute"},
		"usage-limit": {func() *executor.Refusal { return usageLimit(time.Hour) }, agent.FailLimit, "(5h) ends at 20"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			simulated(t, nil, func(t *testing.T, e *rig) {
				e.agent.refuses(c.by())
				e.agent.script("j1", play{works})
				end := e.submit("j1", "one").ends(agent.Failed, c.kind)
				if !end.Tools || !strings.Contains(end.Failure.Message, c.words) || e.agent.asked("j1") != 1 {
					t.Errorf("after %d attempts: %+v: %v", e.agent.asked("j1"), end, end.Failure)
				}
				has[agent.Paused](e.submit("j2", "two", patient), 1)
			})
		})
	}
}

// TestForbidden has a 403 concern all.
func TestForbidden(t *testing.T) {
	t.Parallel()
	simulated(t, nil, func(t *testing.T, e *rig) {
		e.agent.refuses(forbidden())
		w := e.submit("j1", "one")
		if held := has[agent.Paused](w, 1); held.Kind != agent.FailAuth || !strings.Contains(e.Held(), "403") {
			t.Errorf("held = %+v, %q", held, e.Held())
		}
		e.agent.refuses(nil)
		w.completes()
	})
}

// TestRefusedForItself has one message refused while the credential is taken from
// others: that is found out at once, and it fails alone.
func TestRefusedForItself(t *testing.T) {
	t.Parallel()
	simulated(t, nil, func(t *testing.T, e *rig) {
		e.agent.script("j1", play{refused(forbidden())})
		w, behind := e.submit("j1", "one"), e.submit("j2", "one")
		w.ends(agent.Failed, agent.FailAuth)
		behind.completes()
		if e.agent.asked("j1") != 2 || e.agent.probed() != 1 || e.Held() != "" || len(seen[agent.Paused](w)) != 0 {
			t.Errorf("%d attempts, %d probes, held: %q", e.agent.asked("j1"), e.agent.probed(), e.Held())
		}
	})
}

// TestSteerOfARefusedTurn goes to the turn that is run in its place.
func TestSteerOfARefusedTurn(t *testing.T) {
	t.Parallel()
	simulated(t, nil, func(t *testing.T, e *rig) {
		refuse := make(chan struct{})
		e.agent.refuses(unauthorized())
		e.agent.script("j1", play{waits(refuse)}, play{hears})
		w := e.submit("j1", "one").starts()
		s := e.steer("j1", "j2", "one")
		has[agent.Steered](s, 1)
		close(refuse)
		has[agent.Paused](w, 1)
		if err := e.Steer("j1", jobOf("j3", "one", nil), nil); !errors.Is(err, executor.ErrNotRunning) {
			t.Errorf("a turn that waits takes a message: %v", err)
		}
		e.agent.refuses(nil)
		if end := w.completes(); !slices.Equal(end.Taken, []string{"j2"}) || said(end) != "j1\nj2" {
			t.Errorf("it says %q with %v taken", said(end), end.Taken)
		}
		s.completes()
	})
}
