package executor_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// TestDeathInMidTurn has every attempt of a message end with the agent.
func TestDeathInMidTurn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		does     play
		outcome  agent.Outcome
		kind     agent.FailureKind
		attempts int
		tools    bool
	}{
		"text":      {play{speaks, dies}, agent.Interrupted, agent.FailUnreachable, 2, false}, // run again once, and cut again
		"silent":    {play{dies}, agent.Interrupted, agent.FailUnreachable, 2, false},
		"tool":      {play{works, dies}, agent.Interrupted, agent.FailUnreachable, 1, true},
		"unseen":    {play{worksUnseen, dies}, agent.Interrupted, agent.FailUnreachable, 1, true},
		"early":     {play{diesEarly(false)}, agent.Failed, agent.FailUnreachable, 3, false}, // each time gone before it was anything
		"done":      {play{diesDone}, agent.Completed, "", 1, false},
		"tool-done": {play{works, diesDone}, agent.Completed, "", 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			simulated(t, nil, func(t *testing.T, e *rig) {
				e.agent.script("j1", c.does)
				w := e.submit("j1", "one")
				end := w.ends(c.outcome, c.kind)
				if n := e.journal.begun("j1"); n != c.attempts || end.Tools != c.tools {
					t.Errorf("%d attempts and tools %v, want %d and %v", n, end.Tools, c.attempts, c.tools)
				}
				for i, started := range seen[agent.Started](w) {
					if started.Attempt != i+1 {
						t.Errorf("Started %d is of attempt %d", i+1, started.Attempt)
					}
				}
				if c.outcome == agent.Completed && said(end) != "j1" {
					t.Errorf("it says %q", said(end))
				}
				e.submit("j2", "one").completes()
			})
		})
	}
}

// TestCutInTextRunsAgain keeps the job and its observer.
func TestCutInTextRunsAgain(t *testing.T) {
	t.Parallel()
	for name, does := range map[string]play{"text": {speaks, dies}, "silent": {dies}, "early": {diesEarly(false)}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			simulated(t, nil, func(t *testing.T, e *rig) {
				e.agent.script("j1", does, nil)
				w := e.submit("j1", "one")
				end := w.completes()
				if started := seen[agent.Started](w); len(started) != 2 || started[1].Attempt != 2 || said(end) != "j1" {
					t.Errorf("Started = %+v and %q, want a second attempt and its text alone", started, said(end))
				}
			})
		})
	}
}

// TestDeathBeforeTheMessageWasTaken runs it again, as often as the agent has to be started for it.
func TestDeathBeforeTheMessageWasTaken(t *testing.T) {
	t.Parallel()
	set := func(_ *executor.Config, a *scripted) {
		n := 0
		a.begin = func(s *session, of executor.Order) error {
			if n++; n > 2 {
				return nil
			}
			return vanishes(false)(s, of)
		}
	}
	simulated(t, set, func(t *testing.T, e *rig) {
		w := e.submit("j1", "one")
		w.completes()
		if started := seen[agent.Started](w); len(started) != 1 || started[0].Attempt != 3 {
			t.Errorf("Started = %+v", started)
		}
	})
}

// TestCancelOfACut wins over the attempt that would follow.
func TestCancelOfACut(t *testing.T) {
	t.Parallel()
	slow := func(_ *executor.Config, a *scripted) {
		a.look = func(ctx context.Context, _ executor.Attempt) error {
			select {
			case <-time.After(time.Minute):
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	simulated(t, slow, func(t *testing.T, e *rig) {
		e.agent.script("j1", play{speaks, dies})
		w, began := e.submit("j1", "one").starts(), time.Now()
		synctest.Wait()
		e.cancel("j1")
		if end := w.ends(agent.Canceled, ""); said(end) != "well" || time.Since(began) > time.Second || e.journal.begun("j1") != 1 {
			t.Errorf("after %s and %d attempts it ends with %q", time.Since(began), e.journal.begun("j1"), said(end))
		}
	})
}

// TestNextProcess settles what the process before it was cut off in.
func TestNextProcess(t *testing.T) {
	t.Parallel()
	message := []agent.Message{{ItemID: "m", Text: "said before"}}
	failed := &agent.Ended{Outcome: agent.Failed, Failure: &agent.Failure{Kind: agent.FailModel, Message: "no"}}
	for name, c := range map[string]struct {
		left    *record // nil: it never became a turn
		noted   bool    // the process before has noted that a tool started
		outcome agent.Outcome
		kind    agent.FailureKind
		started int // the last attempt that is told as started, 0 if none is
		tools   bool
	}{
		"never":       {nil, false, agent.Completed, "", 2, false},
		"text":        {&record{state: executor.Broken}, false, agent.Completed, "", 2, false},
		"tool":        {&record{state: executor.Broken, tool: true}, false, agent.Interrupted, agent.FailUnreachable, 0, true},
		"noted-tool":  {&record{state: executor.Broken}, true, agent.Interrupted, agent.FailUnreachable, 0, true},
		"noted-alone": {nil, true, agent.Interrupted, agent.FailUnreachable, 0, true},
		"done":        {&record{state: executor.Concluded, end: &agent.Ended{Outcome: agent.Completed, Messages: message}}, false, agent.Completed, "", 1, false},
		"done-tool": {
			&record{state: executor.Concluded, tool: true, end: &agent.Ended{Outcome: agent.Completed, Messages: message, Tools: true}}, true,
			agent.Completed, "", 1, true,
		},
		"failed-done": {&record{state: executor.Concluded, end: failed}, false, agent.Failed, agent.FailModel, 1, false},
		"refused":     {&record{state: executor.Refused, end: failed}, false, agent.Completed, "", 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			simulated(t, nil, func(t *testing.T, e *rig) {
				if c.left != nil {
					e.agent.past.leave(*c.left, "j1")
				}
				w := e.submit("j1", "one", cut, func(j *executor.Job) { j.Cut.Tool = c.noted })
				behind := e.submit("j2", "one")
				end := w.ends(c.outcome, c.kind)
				last := 0
				for _, started := range seen[agent.Started](w) {
					last = started.Attempt
				}
				if last != c.started || end.Tools != c.tools {
					t.Errorf("attempt %d and tools %v, want %d and %v", last, end.Tools, c.started, c.tools)
				}
				if c.started == 1 && c.outcome == agent.Completed && said(end) != "said before" {
					t.Errorf("it says %q", said(end))
				}
				behind.completes()
			})
		})
	}
}

// TestLossBehindACut: what was done in a thread that is gone is not known.
func TestLossBehindACut(t *testing.T) {
	t.Parallel()
	simulated(t, nil, func(t *testing.T, e *rig) {
		e.agent.past.lost = true
		if end := e.submit("j1", "one", cut).ends(agent.Interrupted, agent.FailUnreachable); !end.Tools {
			t.Error("it is said that no tool has started")
		}
	})
}

// TestStopInTheMiddle has our own Close cut a turn off; the next process goes on.
func TestStopInTheMiddle(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		does  play
		tools bool
	}{"text": {play{hangs}, false}, "tool": {play{works, hangs}, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			simulated(t, nil, func(t *testing.T, e *rig) {
				e.agent.script("j1", c.does)
				w := e.submit("j1", "one").starts()
				next := e.next(nil)
				if end := w.ends(agent.Interrupted, agent.FailShutdown); end.Tools != c.tools {
					t.Errorf("tools = %v", end.Tools)
				}
				w = next.submit("j1", "one", cut)
				if c.tools {
					w.ends(agent.Interrupted, agent.FailUnreachable)
				} else {
					w.completes()
				}
			})
		})
	}
}

// TestSecondCutOverProcesses does not run a message a third time.
func TestSecondCutOverProcesses(t *testing.T) {
	t.Parallel()
	simulated(t, nil, func(t *testing.T, e *rig) {
		for n := range 2 {
			e.agent.script("j1", play{hangs})
			w := e.submit("j1", "one", func(j *executor.Job) {
				if n > 0 {
					cut(j)
				}
			}).starts()
			e = e.next(nil)
			w.ends(agent.Interrupted, agent.FailShutdown)
		}
		again := e.submit("j1", "one", func(j *executor.Job) { j.Cut = &executor.Cut{Attempt: 2, ThreadID: threadOf("one")} })
		if end := again.ends(agent.Interrupted, agent.FailUnreachable); end.Tools || e.journal.begun("j1") != 2 {
			t.Errorf("tools %v, %d attempts", end.Tools, e.journal.begun("j1"))
		}
	})
}

// TestCutWithoutAnAgent leaves a cut attempt undecided: it may have run.
func TestCutWithoutAnAgent(t *testing.T) {
	t.Parallel()
	simulated(t, starting(startFails, 1, ever), func(t *testing.T, e *rig) {
		end := e.submit("j1", "one", cut).ends(agent.Interrupted, agent.FailUnreachable)
		if !end.Tools || e.journal.begun("j1") != 0 {
			t.Errorf("tools %v, %d attempts", end.Tools, e.journal.begun("j1"))
		}
	})
}
