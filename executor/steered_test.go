package executor_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// offering says what becomes of a message to a running turn.
func offering(job string, of offer) func(*executor.Config, *scripted) {
	return func(_ *executor.Config, a *scripted) { a.offers[job] = of }
}

// TestSteerGoesWrong has each message answered once, in the turn or in one of its own.
func TestSteerGoesWrong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of       offer
		own      bool // the message had a turn of its own
		attempts int  // at the message
		steered  int  // how often that was said
	}{
		"taken":      {offer{}, false, 1, 1},
		"refused":    {offer{answer: executor.ErrNotTaken}, true, 2, 0},
		"lost":       {offer{lost: true}, true, 2, 1},
		"untold":     {offer{untold: true}, false, 1, 1},
		"unanswered": {offer{answer: context.DeadlineExceeded}, false, 1, 1},
		"unheard":    {offer{answer: context.DeadlineExceeded, untold: true}, false, 1, 0},
		"passed":     {offer{passed: true}, true, 2, 1},
		"passed-too": {offer{passed: true, answer: context.DeadlineExceeded}, true, 2, 1},
		"never-seen": {offer{answer: context.DeadlineExceeded, lost: true}, true, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			simulated(t, offering("j2", c.of), func(t *testing.T, e *rig) {
				e.agent.script("j1", play{lasts(time.Second)})
				w := e.submit("j1", "one").starts()
				s := e.steer("j1", "j2", "one")
				later := e.submit("j3", "one")
				end, other := w.completes(), s.completes()
				if (said(end) == "j1") != c.own || (said(other) == "j2") != c.own || slices.Contains(end.Taken, "j2") == c.own {
					t.Errorf("the turn says %q with %v taken, the message's own says %q", said(end), end.Taken, said(other))
				}
				if n := e.journal.begun("j2"); n != c.attempts {
					t.Errorf("%d attempts, want %d", n, c.attempts)
				}
				if n := len(seen[agent.Steered](s)); n != c.steered {
					t.Errorf("it was said %d times to be taken, want %d", n, c.steered)
				}
				if n := len(seen[agent.Unsteered](s)); (n == 1) != c.own {
					t.Errorf("it was said %d times not to be taken", n)
				}
				later.completes()
				if order := e.agent.order(); c.own && !slices.Equal(order, []string{"j1", "j2", "j3"}) {
					t.Errorf("the turns were of %v", order)
				}
			})
		})
	}
}

// TestSteerOfATurnThatDies has the turn run again, with the message if that has it.
func TestSteerOfATurnThatDies(t *testing.T) {
	t.Parallel()
	for _, lost := range []bool{false, true} {
		t.Run(fmt.Sprintf("lost-%v", lost), func(t *testing.T) {
			t.Parallel()
			simulated(t, offering("j2", offer{lost: lost}), func(t *testing.T, e *rig) {
				e.agent.script("j1", play{lasts(time.Second), dies}, play{lasts(time.Second)})
				w := e.submit("j1", "one").starts()
				s := e.steer("j1", "j2", "one")
				end, own := w.completes(), s.completes()
				if len(seen[agent.Started](w)) != 2 || slices.Contains(end.Taken, "j2") == lost || (said(end) == "j1") != lost || (said(own) == "j2") != lost {
					t.Errorf("it says %q with %v taken, the message's own says %q", said(end), end.Taken, said(own))
				}
			})
		})
	}
}

// TestSteerRefused says at once that the message waits.
func TestSteerRefused(t *testing.T) {
	t.Parallel()
	simulated(t, offering("j3", offer{answer: executor.ErrNotTaken}), func(t *testing.T, e *rig) {
		w := e.stays("j1", "one").starts()
		before := e.submit("j2", "one")
		s := e.steer("j1", "j3", "one")
		if told := has[agent.Unsteered](s, 1); told.Ahead != 2 {
			t.Errorf("told %+v", told)
		}
		w.waits()
		e.cancel("j1")
		before.completes()
		if end := s.completes(); said(end) != "j3" {
			t.Errorf("its own turn says %q", said(end))
		}
	})
}

// TestSteerThatHadItsTurn does not hand a message to a turn that is run again when
// it has had a turn of its own since: the end of the one before was not written down.
func TestSteerThatHadItsTurn(t *testing.T) {
	t.Parallel()
	simulated(t, nil, func(t *testing.T, e *rig) {
		e.agent.past.leave(record{state: executor.Broken, tool: true}, "j1")
		e.agent.script("j9", play{lasts(time.Second)})
		e.stays("j0", "one").starts() // both are submitted before the first of them has its turn
		w := e.submit("j9", "one", cut)
		s := e.steer("j9", "j1", "one", cut)
		e.cancel("j0")
		if end := w.completes(); said(end) != "j9" || len(end.Taken) != 0 {
			t.Errorf("the turn says %q with %v taken", said(end), end.Taken)
		}
		s.ends(agent.Interrupted, agent.FailUnreachable)
	})
}

// TestSteerAndTimer ends a turn that has not got to what it was sent.
func TestSteerAndTimer(t *testing.T) {
	t.Parallel()
	simulated(t, func(cfg *executor.Config, by *scripted) {
		offering("j2", offer{lost: true})(cfg, by)
		cfg.ItemTimeout = time.Second
	}, func(t *testing.T, e *rig) {
		e.agent.script("j1", play{works, hangs})
		w := e.submit("j1", "one").starts()
		s := e.steer("j1", "j2", "one")
		has[agent.Steered](s, 1)
		end := w.ends(agent.Failed, agent.FailTimeout)
		if own := s.completes(); len(end.Taken) != 0 || said(own) != "j2" {
			t.Errorf("%v was taken, and its own turn says %q", end.Taken, said(own))
		}
	})
}

// TestSteerWithoutAJournal sends nothing to the agent that is not written down.
func TestSteerWithoutAJournal(t *testing.T) {
	t.Parallel()
	simulated(t, nil, func(t *testing.T, e *rig) {
		e.agent.script("j1", play{lasts(time.Minute)})
		w := e.submit("j1", "one").starts()
		e.journal.fills(true)
		s := e.steer("j1", "j2", "one")
		has[agent.Notice](s, 1)
		if end := w.completes(); len(end.Taken) != 0 || said(end) != "j1" {
			t.Errorf("it says %q, and %v was taken", said(end), end.Taken)
		}
		e.journal.fills(false)
		if end := s.completes(); said(end) != "j2" {
			t.Errorf("its own turn says %q", said(end))
		}
	})
}

// TestSteerAndClose leaves both to the next process, which asks the history.
func TestSteerAndClose(t *testing.T) {
	t.Parallel()
	for _, there := range []bool{true, false} {
		t.Run(fmt.Sprintf("there-%v", there), func(t *testing.T) {
			t.Parallel()
			set := offering("j2", offer{lost: !there})
			simulated(t, set, func(t *testing.T, e *rig) {
				w := e.stays("j1", "one").starts()
				s := e.steer("j1", "j2", "one")
				has[agent.Steered](s, 1)
				next := e.next(set)
				for _, w := range []*witness{w, s} {
					if end := w.ends(agent.Interrupted, agent.FailShutdown); end.Tools || len(end.Taken) != 0 {
						t.Errorf("end = %+v, want it left to the next process", end)
					}
				}
				next.agent.script("j1", play{lasts(time.Second)})
				next.stays("j0", "one").starts()
				w = next.submit("j1", "one", cut)
				s = next.steer("j1", "j2", "one", cut)
				next.cancel("j0")
				end, own := w.completes(), s.completes()
				if there && said(end) != "j1\nj2" || !there && said(own) != "j2" {
					t.Errorf("the turn says %q, the message's own %q", said(end), said(own))
				}
			})
		})
	}
}

// TestSteerOfTheProcessBefore finds out what became of a message to a turn that
// neither process has seen the end of.
func TestSteerOfTheProcessBefore(t *testing.T) {
	t.Parallel()
	done := &agent.Ended{Outcome: agent.Completed}
	both, alone := []string{"j1", "j2"}, []string{"j1"}
	for name, c := range map[string]struct {
		left    record
		jobs    []string // that stand in it; none if there is no turn
		outcome agent.Outcome
		taken   bool
	}{
		"words":        {record{state: executor.Broken}, both, agent.Completed, true}, // both again
		"words-lost":   {record{state: executor.Broken}, alone, agent.Completed, true},
		"a-tool":       {record{state: executor.Broken, tool: true}, both, agent.Interrupted, true},
		"a-tool-lost":  {record{state: executor.Broken, tool: true}, alone, agent.Interrupted, false},
		"at-end":       {record{state: executor.Concluded, end: done}, both, agent.Completed, true},
		"at-end-lost":  {record{state: executor.Concluded, end: done}, alone, agent.Completed, false},
		"never-a-turn": {record{}, nil, agent.Completed, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			simulated(t, nil, func(t *testing.T, e *rig) {
				if c.jobs != nil {
					e.agent.past.leave(c.left, c.jobs...)
				}
				e.agent.script("j1", play{lasts(time.Second)})
				e.stays("j0", "one").starts() // what is left is submitted before the first of it has its turn
				w := e.submit("j1", "one", cut)
				s := e.steer("j1", "j2", "one", cut)
				behind := e.submit("j3", "one")
				e.cancel("j0")
				end, own := w.wait(), s.wait()
				if end.Outcome != c.outcome || slices.Contains(end.Taken, "j2") != c.taken {
					t.Errorf("end = %s (%v) with %v taken", end.Outcome, end.Failure, end.Taken)
				}
				if !c.taken && (own.Outcome != agent.Completed || said(own) != "j2") {
					t.Errorf("the message's own turn is %s and says %q", own.Outcome, said(own))
				}
				behind.completes()
			})
		})
	}
}

// TestSteerBehindTheProcessBefore: what became of the turn has been found out before its message was handed
// to it. The message is one of its own then, and ends as that turn did, or is run once.
func TestSteerBehindTheProcessBefore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		left    record
		outcome agent.Outcome
		runs    int // of each
	}{
		"words":  {record{state: executor.Broken}, agent.Completed, 1},
		"a-tool": {record{state: executor.Broken, tool: true}, agent.Interrupted, 0},
		"at-end": {record{state: executor.Concluded, end: &agent.Ended{Outcome: agent.Completed}}, agent.Completed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			simulated(t, nil, func(t *testing.T, e *rig) {
				e.agent.past.leave(c.left, "j1", "j2")
				first := e.submit("j1", "one", cut).wait()
				late := jobOf("j2", "one", []change{cut})
				if err := e.Steer("j1", late, func(agent.Event) {}); !errors.Is(err, executor.ErrNotRunning) {
					t.Fatalf("Steer = %v", err)
				}
				second := e.submit("j2", "one", cut).wait()
				for id, end := range map[string]agent.Ended{"j1": first, "j2": second} {
					if end.Outcome != c.outcome || e.agent.asked(id) != c.runs {
						t.Errorf("%s = %s (%v), run %d times", id, end.Outcome, end.Failure, e.agent.asked(id))
					}
				}
			})
		})
	}
}

// TestSteerBesideAHold says nothing of a hold to a message that is with a turn, and
// all of it once it waits.
func TestSteerBesideAHold(t *testing.T) {
	t.Parallel()
	simulated(t, offering("j3", offer{lost: true}), func(t *testing.T, e *rig) {
		e.stays("j1", "one").starts()
		before := e.submit("j2", "one")
		s := e.steer("j1", "j3", "one")
		has[agent.Steered](s, 1)
		e.agent.refuses(unauthorized())
		has[agent.Paused](e.submit("j4", "two"), 1)
		has[agent.Paused](before, 1)
		if told := seen[agent.Paused](s); len(told) != 0 {
			t.Errorf("a message that does not wait was told %+v", told)
		}
		e.cancel("j1")
		has[agent.Paused](s, 1)
	})
}

// TestCancelOfWhatTheProcessBeforeHasSteered while another turn runs: nothing of it
// is waited for.
func TestCancelOfWhatTheProcessBeforeHasSteered(t *testing.T) {
	t.Parallel()
	simulated(t, nil, func(t *testing.T, e *rig) {
		e.stays("j0", "one").starts()
		j := e.submit("j1", "one", cut)
		canceled, left := e.steer("j1", "j2", "one", cut), e.steer("j1", "j3", "one", cut)
		e.cancel("j2")
		e.cancel("j1")
		j.ends(agent.Canceled, "")
		canceled.ends(agent.Canceled, "")
		if left.waits(); e.Health().Waiting != 1 {
			t.Errorf("%d wait, want the one that was not canceled", e.Health().Waiting)
		}
		e.cancel("j0")
		left.completes()
	})
}

// TestSteerFull refuses what is too much to wait.
func TestSteerFull(t *testing.T) {
	t.Parallel()
	set := func(c *executor.Config, a *scripted) {
		c.MaxQueue = 2
		for _, id := range []string{"s0", "s1"} {
			a.offers[id] = offer{answer: context.DeadlineExceeded, lost: true}
		}
	}
	simulated(t, set, func(t *testing.T, e *rig) {
		e.stays("j0", "one").starts()
		e.steer("j0", "s0", "one")
		e.steer("j0", "s1", "one")
		synctest.Wait()
		if err := e.Steer("j0", jobOf("s2", "one", nil), func(agent.Event) {}); !errors.Is(err, executor.ErrQueueFull) {
			t.Errorf("Steer: %v", err)
		}
	})
}

// TestSteerWithoutEnd steers one turn more often than messages may wait: what has arrived does not count as waiting.
func TestSteerWithoutEnd(t *testing.T) {
	t.Parallel()
	simulated(t, func(c *executor.Config, _ *scripted) { c.MaxQueue = 3 }, func(t *testing.T, e *rig) {
		var ids []string
		e.agent.script("j0", play{lasts(time.Minute)})
		w := e.submit("j0", "one").starts()
		for i := range 20 {
			ids = append(ids, fmt.Sprint("s", i))
			has[agent.Steered](e.steer("j0", ids[i], "one"), 1)
		}
		if end := w.completes(); !slices.Equal(end.Taken, ids) {
			t.Errorf("%v were taken", end.Taken)
		}
	})
}

// TestSteerAndCancel cancels a turn and what was handed to it.
func TestSteerAndCancel(t *testing.T) {
	t.Parallel()
	simulated(t, offering("j2", offer{lost: true}), func(t *testing.T, e *rig) {
		e.agent.script("j1", play{works, hangs})
		w := e.submit("j1", "one").starts()
		s := e.steer("j1", "j2", "one")
		has[agent.Steered](s, 1)
		e.cancel("j2")
		s.waits() // for the turn
		e.cancel("j1")
		w.ends(agent.Canceled, "")
		s.ends(agent.Canceled, "")
		synctest.Wait()
		if n, h := e.agent.asked("j2"), e.Health(); n != 0 || h.Waiting != 0 {
			t.Errorf("%d attempts at it, and %d jobs wait", n, h.Waiting)
		}
	})
}
