package executor_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// starting has starts of the agent end in another way than well: those from one number to another, from 1.
func starting(how startEnd, from, to int) func(*executor.Config, *scripted) {
	return func(c *executor.Config, a *scripted) {
		c.StartWait = time.Hour
		a.starts = func(n int) startEnd {
			if from <= n && n <= to {
				return how
			}
			return startWell
		}
	}
}

// ever is more starts than there are.
const ever = 1 << 30

// TestAgentComesLate runs what has waited.
func TestAgentComesLate(t *testing.T) {
	t.Parallel()
	simulated(t, starting(startFails, 1, 4), func(t *testing.T, e *rig) {
		first, second := e.submit("j1", "one", patient), e.submit("j2", "one", patient)
		first.completes()
		second.completes()
		if notices := seen[agent.Notice](first); len(notices) != 1 || !strings.HasPrefix(notices[0].Text, "the agent does not start. This") {
			t.Errorf("notices %+v", notices)
		}
	})
}

// TestWaitForTheAgent: a sender who waits for an answer is told at once that the agent does not start, also behind one
// who does not; that one waits for as long as is set, and holds no slot.
func TestWaitForTheAgent(t *testing.T) {
	t.Parallel()
	set := func(c *executor.Config, a *scripted) {
		starting(startFails, 1, ever)(c, a)
		c.StartWait = time.Minute
	}
	simulated(t, set, func(t *testing.T, e *rig) {
		began := time.Now()
		first := e.submit("j1", "one", patient)
		time.Sleep(5 * time.Second)
		for _, context := range []string{"one", "two"} {
			at := time.Now()
			e.submit("blocking", context).ends(agent.Failed, agent.FailUnreachable)
			if took := time.Since(at); took > 3*time.Second {
				t.Errorf("it was told after %v", took)
			}
		}
		if h := e.Health(); h.Running != 0 {
			t.Errorf("%d run", h.Running)
		}
		first.ends(agent.Failed, agent.FailUnreachable)
		if took := time.Since(began); took < time.Minute || took > 65*time.Second {
			t.Errorf("it has waited for %v", took)
		}
	})
}

// TestAgentIsKilledAsItStarts: that is no failure of the agent, so a blocking message is not turned away because
// another one waits before it, unless it happens each time.
func TestAgentIsKilledAsItStarts(t *testing.T) {
	t.Parallel()
	t.Run("a few times", func(t *testing.T) {
		t.Parallel()
		simulated(t, starting(startIsKilled, 1, 3), func(_ *testing.T, e *rig) {
			first, second := e.submit("j1", "one", patient), e.submit("j2", "one")
			first.completes()
			second.completes()
		})
	})
	t.Run("after other failures", func(t *testing.T) {
		t.Parallel()
		set := func(c *executor.Config, a *scripted) {
			starting(startFails, 1, 13)(c, a)
			then := a.starts
			a.starts = func(n int) startEnd {
				if 14 <= n && n <= 16 {
					return startIsKilled
				}
				return then(n)
			}
		}
		simulated(t, set, func(_ *testing.T, e *rig) {
			first := e.submit("j1", "one", patient)
			time.Sleep(13500 * time.Millisecond)
			second := e.submit("j2", "one")
			first.completes()
			second.completes()
		})
	})
	t.Run("each time", func(t *testing.T) {
		t.Parallel()
		simulated(t, starting(startIsKilled, 1, ever), func(_ *testing.T, e *rig) {
			first, second := e.submit("j1", "one", patient), e.submit("j2", "one")
			second.ends(agent.Failed, agent.FailUnreachable)
			first.waits()
		})
	})
}

// TestCutWaitsForTheAgent: what became of a turn that was cut off is asked when the agent is there again, more
// starts later than it is asked otherwise.
func TestCutWaitsForTheAgent(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		does    play
		outcome agent.Outcome
		kind    agent.FailureKind
		started int
		says    string
	}{
		"text": {play{speaks, dies}, agent.Completed, "", 2, "j1"},
		"tool": {play{works, dies}, agent.Interrupted, agent.FailUnreachable, 1, ""},
		"done": {play{diesDone}, agent.Completed, "", 1, "j1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			simulated(t, starting(startFails, 2, 5), func(t *testing.T, e *rig) {
				e.agent.script("j1", test.does, nil)
				w := e.submit("j1", "one", patient)
				end := w.ends(test.outcome, test.kind)
				if n := len(seen[agent.Started](w)); n != test.started || len(seen[agent.Notice](w)) != 1 || said(end) != test.says {
					t.Errorf("%d attempts, notices %+v, said %q", n, seen[agent.Notice](w), said(end))
				}
			})
		})
	}
	t.Run("of the process before", func(t *testing.T) {
		t.Parallel()
		simulated(t, starting(startFails, 1, 4), func(t *testing.T, e *rig) {
			e.agent.past.leave(record{state: executor.Broken}, "j1")
			w := e.submit("j1", "one", cut, patient)
			w.completes()
			if started := seen[agent.Started](w); len(started) != 1 || started[0].Attempt != 2 {
				t.Errorf("Started = %+v", started)
			}
		})
	})
	t.Run("a sender that waits for the answer does not wait for it", func(t *testing.T) {
		t.Parallel()
		simulated(t, starting(startFails, 2, ever), func(t *testing.T, e *rig) {
			e.agent.script("j1", play{speaks, dies})
			began := time.Now()
			e.submit("j1", "one").ends(agent.Interrupted, agent.FailUnreachable)
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("it was told after %v", took)
			}
		})
	})
}

// TestCutWithASteerWaitsForTheAgent: a message that the turn has taken is not run again when that is found out.
func TestCutWithASteerWaitsForTheAgent(t *testing.T) {
	t.Parallel()
	simulated(t, starting(startFails, 2, 5), func(t *testing.T, e *rig) {
		e.agent.script("j1", play{hears, diesDone})
		w := e.submit("j1", "one", patient).starts()
		s := e.steer("j1", "j2", "one")
		end := w.completes()
		s.completes()
		if !slices.Equal(end.Taken, []string{"j2"}) || len(seen[agent.Notice](w)) != 1 || len(seen[agent.Started](s)) > 0 {
			t.Errorf("taken %v, notices %+v, turns of the message %+v", end.Taken, seen[agent.Notice](w), seen[agent.Started](s))
		}
	})
}

// TestCancelOfACutThatWaits says what the turn had and that a tool had started.
func TestCancelOfACutThatWaits(t *testing.T) {
	t.Parallel()
	simulated(t, starting(startFails, 2, ever), func(t *testing.T, e *rig) {
		e.agent.script("j1", play{works, speaks, dies})
		w := e.submit("j1", "one", patient)
		has[agent.Notice](w, 1)
		synctest.Wait()
		e.cancel("j1")
		if end := w.ends(agent.Canceled, ""); !end.Tools || said(end) != "well" {
			t.Errorf("end = %+v", end)
		}
	})
}
