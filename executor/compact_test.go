package executor_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// shortening has threads be shortened as a test says.
func shortening(by func(context.Context) (*executor.Refusal, error)) func(*executor.Config, *scripted) {
	return func(_ *executor.Config, a *scripted) { a.shorten = by }
}

func shortens(context.Context) (*executor.Refusal, error) { return nil, nil }

// TestFullContextIsCompacted once, and the message runs again.
func TestFullContextIsCompacted(t *testing.T) {
	t.Parallel()
	simulated(t, shortening(shortens), func(t *testing.T, e *rig) {
		e.agent.script("j1", play{fills}, nil)
		w := e.submit("j1", "one")
		end := w.completes()
		if started := seen[agent.Started](w); said(end) != "j1" || len(started) != 2 || started[1].Attempt != 2 || e.agent.shortened != 1 {
			t.Errorf("it says %q, started = %+v, compacted %d times", said(end), started, e.agent.shortened)
		}
	})
}

// TestFullContextInMidTurn meets the end of the context after a tool has run: the turn goes on from there, with what
// was handed to it.
func TestFullContextInMidTurn(t *testing.T) {
	t.Parallel()
	simulated(t, shortening(shortens), func(t *testing.T, e *rig) {
		e.agent.script("j1", play{hears, works, fills}, nil)
		w := e.submit("j1", "one").starts()
		s := e.steer("j1", "j2", "one")
		end := w.completes()
		if !strings.Contains(said(end), "Do not repeat") || strings.Contains(said(end), "j1") || strings.Contains(said(end), "j2") {
			t.Errorf("it is told %q", said(end))
		}
		if s.completes(); len(end.Taken) != 1 || e.agent.asked("j2") != 0 {
			t.Errorf("taken were %v", end.Taken)
		}
	})
}

// TestContextThatStaysFull fails the message.
func TestContextThatStaysFull(t *testing.T) {
	t.Parallel()
	fails := func(context.Context) (*executor.Refusal, error) { return nil, errors.New("no summary") }
	for name, by := range map[string]func(context.Context) (*executor.Refusal, error){"summary": shortens, "none": fails} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			simulated(t, shortening(by), func(t *testing.T, e *rig) {
				e.agent.script("j1", play{fills})
				e.submit("j1", "one").ends(agent.Failed, agent.FailContext)
				if e.agent.shortened != 1 {
					t.Errorf("it was compacted %d times", e.agent.shortened)
				}
			})
		})
	}
}

// TestCompactionThatIsRefused has the credential refused between the two, or a limit be reached.
func TestCompactionThatIsRefused(t *testing.T) {
	t.Parallel()
	refuses := func(r *executor.Refusal) func(*executor.Config, *scripted) {
		n := 0
		return shortening(func(context.Context) (*executor.Refusal, error) {
			if n++; n > 1 {
				return nil, nil
			}
			return r, nil
		})
	}
	t.Run("credential", func(t *testing.T) {
		t.Parallel()
		simulated(t, refuses(unauthorized()), func(_ *testing.T, e *rig) {
			e.agent.refuses(unauthorized())
			e.agent.script("j1", play{fills}, play{fills}, nil)
			w := e.submit("j1", "one")
			has[agent.Paused](w, 1)
			e.agent.refuses(nil)
			w.completes()
		})
	})
	t.Run("limit", func(t *testing.T) {
		t.Parallel()
		simulated(t, refuses(tooMany()), func(t *testing.T, e *rig) {
			e.agent.script("j1", play{fills})
			e.submit("j1", "one").ends(agent.Failed, agent.FailLimit)
			if e.Held() == "" {
				t.Error("others are not held")
			}
		})
	})
}

// TestCompactionThatIsStopped ends the job as the stop wants it, not as one whose context is full.
func TestCompactionThatIsStopped(t *testing.T) {
	t.Parallel()
	hangs := func(ctx context.Context) (*executor.Refusal, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	for name, c := range map[string]struct {
		stop    func(*rig)
		outcome agent.Outcome
		kind    agent.FailureKind
	}{
		"cancel": {func(e *rig) { e.cancel("j1") }, agent.Canceled, ""},
		"close":  {func(e *rig) { e.close() }, agent.Interrupted, agent.FailShutdown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			simulated(t, shortening(hangs), func(t *testing.T, e *rig) {
				e.agent.script("j1", play{fills})
				w := e.submit("j1", "one")
				synctest.Wait()
				c.stop(e)
				if end := w.ends(c.outcome, c.kind); end.Tools {
					t.Error("nothing was done, and the job is not left to the next process")
				}
			})
		})
	}
}

// TestDeathBehindACompaction before the turn that goes on: only the process that has died knew where to go on.
func TestDeathBehindACompaction(t *testing.T) {
	t.Parallel()
	simulated(t, nil, func(_ *testing.T, e *rig) {
		failed := &agent.Ended{Outcome: agent.Failed}
		e.agent.past.leave(record{state: executor.Concluded, tool: true, end: failed}, "j1")
		e.submit("j1", "one", func(j *executor.Job) {
			j.Cut = &executor.Cut{Attempt: 2, ThreadID: threadOf(j.Context)} // begun, and not sent
		}).ends(agent.Interrupted, agent.FailUnreachable)
	})
}
