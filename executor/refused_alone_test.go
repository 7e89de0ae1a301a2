package executor_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

func (e *rig) wantOpen() {
	e.t.Helper()
	synctest.Wait()
	if held, h := e.Held(), e.Health().Hold; held != "" || h != nil {
		e.t.Errorf("others are held: %q, %+v", held, h)
	}
}

// TestLimitOfOneModel fails the message that has named the model, and no other.
func TestLimitOfOneModel(t *testing.T) {
	t.Parallel()
	for name, by := range map[string]func() *executor.Refusal{
		"429": tooMany,
		"far-off": func() *executor.Refusal {
			r := tooMany()
			r.Until = time.Now().Add(2 * time.Hour)
			return r
		},
		"usage": func() *executor.Refusal { return usageLimit(time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			simulated(t, nil, func(t *testing.T, e *rig) {
				e.agent.refusesRare(by())
				end := e.submit("j1", "one", rare).ends(agent.Failed, agent.FailLimit)
				if !strings.Contains(end.Failure.Message, "the model that the message names") {
					t.Errorf("the sender is told: %s", end.Failure.Message)
				}
				e.wantOpen()
				e.submit("j2", "two").completes()
				e.submit("j3", "one").completes()
				e.wantOpen()
				if n := e.agent.asked("j1"); n != 1 {
					t.Errorf("%d attempts", n)
				}
			})
		})
	}
}

// TestCredentialForOne has others go on while it is found out whether the credential is
// refused to them, too.
func TestCredentialForOne(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		by      func() *executor.Refusal
		changes []change
	}{
		"model":   {unauthorized, []change{rare}},
		"message": {forbidden, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			simulated(t, narrow, func(t *testing.T, e *rig) {
				answer := make(chan struct{})
				e.agent.probe = func() { <-answer }
				e.agent.script("j1", play{refused(c.by())})
				e.agent.script("j2", play{refused(c.by())})
				first, second := e.submit("j1", "one", c.changes...), e.submit("j2", "two", c.changes...)
				eventually(t, "a probe", func() bool { return e.agent.probed() > 0 })
				e.submit("j3", "three").completes()
				e.wantOpen()
				close(answer)
				for _, w := range []*witness{first, second} {
					w.ends(agent.Failed, agent.FailAuth)
					if held := seen[agent.Paused](w); len(held) != 0 {
						t.Errorf("held = %+v", held)
					}
				}
				e.wantOpen()
				if a, b := e.agent.asked("j1"), e.agent.asked("j2"); a != 2 || b != 2 {
					t.Errorf("%d and %d attempts", a, b)
				}
			})
		})
	}
}

// TestCredentialForAllModels is refused where a message that names a model meets it first.
func TestCredentialForAllModels(t *testing.T) {
	t.Parallel()
	simulated(t, nil, func(t *testing.T, e *rig) {
		e.agent.refuses(unauthorized())
		w := e.submit("j1", "one", rare)
		if held := has[agent.Paused](w, 1); held.Kind != agent.FailAuth {
			t.Errorf("held = %+v", held)
		}
		other := e.submit("j2", "two")
		has[agent.Paused](other, 1)
		e.agent.refuses(nil)
		w.completes()
		other.completes()
	})
}

// TestUsageLimitOfAllModels holds all, where a message that names a model meets it.
func TestUsageLimitOfAllModels(t *testing.T) {
	t.Parallel()
	simulated(t, nil, func(t *testing.T, e *rig) {
		e.agent.refuses(usageLimit(time.Hour))
		e.submit("j1", "one", rare).ends(agent.Failed, agent.FailLimit)
		eventually(t, "all to be held", func() bool { return e.Held() != "" })
		e.submit("j2", "two").ends(agent.Failed, agent.FailLimit)
		if n := e.agent.asked("j2"); n != 0 {
			t.Errorf("%d attempts at the next", n)
		}
	})
}

// TestPromisedToWaitAlone has a message from before a restart meet the limit of the model
// that it names: it waits for that by itself, and not for ever.
func TestPromisedToWaitAlone(t *testing.T) {
	t.Parallel()
	simulated(t, narrow, func(t *testing.T, e *rig) {
		e.agent.refusesRare(tooMany())
		w := e.submit("j1", "one", rare, accepted, patient)
		if held := has[agent.Paused](w, 1); held.Kind != agent.FailLimit {
			t.Errorf("held = %+v", held)
		}
		e.submit("j2", "two").completes()
		e.wantOpen()
		w.ends(agent.Failed, agent.FailLimit)
		if n := e.agent.asked("j1"); n != 4 {
			t.Errorf("%d attempts, want 4", n)
		}

		w = e.submit("j3", "three", rare, accepted, patient)
		has[agent.Paused](w, 1)
		e.agent.refuses(nil)
		w.completes()
		if told, over := seen[agent.Paused](w), seen[agent.Resumed](w); len(told) == 0 || len(told) != len(over) {
			t.Errorf("told to wait %d times, and %d times that this is over", len(told), len(over))
		}
	})
}

// TestCancelWhileItWaitsAlone ends a message that waits for the end of a limit of its own.
func TestCancelWhileItWaitsAlone(t *testing.T) {
	t.Parallel()
	simulated(t, probing(time.Hour), func(t *testing.T, e *rig) {
		e.agent.refusesRare(tooMany())
		w := e.submit("j1", "one", rare, accepted, patient)
		has[agent.Paused](w, 1)
		next, began := e.submit("j2", "one"), time.Now()
		e.cancel("j1")
		w.ends(agent.Canceled, "")
		next.completes()
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %s", took)
		}
	})
}
