package codex_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// The tests in this file steer turns that do not take it as they should.

// attemptsAt returns the numbers of the attempts at a job.
func (b *notebook) attemptsAt(job string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, a := range b.attempts {
		if a.Job == job {
			n++
		}
	}
	return n
}

// TestSteerGoesWrong has each message answered once, in the turn or in one of its own.
func TestSteerGoesWrong(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	cases := map[string]struct {
		script, turn string
		says         string // the turn
		own          bool   // the message had a turn of its own
		attempts     int    // at the message
		steered      int    // how often that was said
	}{
		"unanswered":    {"unanswered turn/steer", "!hold", "!hold\nother", false, 1, 1},
		"seen-too-late": {"no-answer turn/steer", "!tool 4000", "!tool 4000", true, 2, 0}, // its time is up first
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			book := &notebook{}
			e := onFake(t, c.script, func(cfg *config) {
				cfg.Journal, cfg.Patience = book, 20*time.Second
				if name == "seen-too-late" {
					cfg.Patience = 2 * time.Second
				}
			})
			w := submit(t, e, "j1", "one", c.turn)
			eventually(t, "the turn to start", started(w))
			s := steer(t, e, "j1", "j2", "one", "other")
			later := submit(t, e, "j3", "one", "later")
			end, other := w.wait(t), s.wait(t)
			wantEnd(t, end, agent.Completed, "")
			if said(end) != c.says || (said(other) == "other") != c.own || slices.Contains(end.Taken, "j2") == c.own {
				t.Errorf("the turn says %q with %v taken, the message's own says %q", said(end), end.Taken, said(other))
			}
			if n := book.attemptsAt("j2"); n != c.attempts {
				t.Errorf("%d attempts, want %d", n, c.attempts)
			}
			if n := len(seen[agent.Steered](s)); n != c.steered {
				t.Errorf("it was said %d times to be taken, want %d", n, c.steered)
			}
			if n := len(seen[agent.Unsteered](s)); (n == 1) != c.own {
				t.Errorf("it was said %d times not to be taken", n)
			}
			later.wait(t)
			if a, b := startOf(s), startOf(later); c.own && a.After(b) {
				t.Error("a later message came first")
			}
		})
	}
}

// TestSteerRefused gives a message a turn of its own that codex has certainly not taken: that is said while the turn runs.
func TestSteerRefused(t *testing.T) {
	t.Parallel()
	book := &notebook{}
	e := onFake(t, "refuse turn/steer cannot steer a review turn", func(c *config) { c.Journal = book })
	w := hanging(t, e, "j1")
	s := steer(t, e, "j1", "j2", "j1", "other")
	eventually(t, "it to be said", func() bool { return len(seen[agent.Unsteered](s)) == 1 })
	later := submit(t, e, "j3", "j1", "later")
	if len(w.ended) > 0 {
		t.Error("the turn has ended first")
	}
	cancel(t, e, "j1")
	end, own := w.wait(t), s.wait(t)
	wantTaken(t, end, agent.Canceled)
	if n := book.attemptsAt("j2"); said(own) != "other" || n != 2 || len(seen[agent.Steered](s)) > 0 {
		t.Errorf("its own turn says %q, after %d attempts", said(own), n)
	}
	later.wait(t)
	if startOf(s).After(startOf(later)) {
		t.Error("a later message came first")
	}
}

// TestSteerAndTimer stops a turn that has not got to what it was sent. It takes no further message from then on.
func TestSteerAndTimer(t *testing.T) {
	t.Parallel()
	var wire lockedBuffer
	e := onFake(t, "lose-steers; slow turn/interrupt 300", func(c *config) {
		c.ItemTimeout, c.Grace, c.Child.Wire = 2*time.Second, time.Minute, &wire
	})
	w := submit(t, e, "j1", "one", "!tool 60000")
	w.started(t)
	s := steer(t, e, "j1", "j2", "one", "other")
	eventually(t, "codex to take it", steered(s))
	eventually(t, "the interrupt", func() bool { return strings.Contains(wire.String(), "turn/interrupt") })
	if _, err := trySteer(e, "j1", "j3", "one", "late"); !errors.Is(err, executor.ErrNotRunning) {
		t.Errorf("Steer into a turn that is being stopped: %v", err)
	}
	end, own := w.wait(t), s.wait(t)
	wantEnd(t, end, agent.Failed, agent.FailTimeout)
	if len(end.Taken) > 0 || said(own) != "other" {
		t.Errorf("%v was taken, and its own turn says %q", end.Taken, said(own))
	}
}

func startOf(w *witness) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.began
}

func steerCut(t *testing.T, e *rig, into, id, text string, cut *executor.Cut) *witness {
	t.Helper()
	w := &witness{ended: make(chan agent.Ended, 1)}
	job := executor.Job{ID: id, Context: "one", Input: []agent.Input{agent.Text(text)}, Cut: cut, Accepted: true}
	if err := e.Steer(into, job, w.observe); err != nil {
		t.Fatal(err)
	}
	return w
}

// TestSteerThatIsPassedOver: a message that stands in a turn, which completes without reading it, has a turn
// of its own. codex 0.166.0 does that, and those before it.
func TestSteerThatIsPassedOver(t *testing.T) {
	t.Parallel()
	for _, action := range []string{"!pass-over", "!pass-over-done 3"} {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			e := onFake(t, "state "+t.TempDir(), nil)
			submit(t, e, "j0", "one", "before").wait(t)
			w := submit(t, e, "j1", "one", action)
			eventually(t, "the turn to say all that it says", func() bool { return len(seen[agent.ItemCompleted](w)) > 0 })
			s := steer(t, e, "j1", "j2", "one", "other")
			end, own := w.wait(t), s.wait(t)
			if end.Outcome != agent.Completed || said(end) != "not yours" || len(end.Taken) > 0 {
				t.Errorf("the turn is %s, says %q, and has taken %v", end.Outcome, said(end), end.Taken)
			}
			if own.Outcome != agent.Completed || said(own) != "other" {
				t.Errorf("the message's own turn is %s and says %q", own.Outcome, said(own))
			}
		})
	}
}

// TestSteerOfTheProcessBefore finds out what became of a message to a turn that
// neither process has seen the end of.
func TestSteerOfTheProcessBefore(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	cases := map[string]struct {
		action  string // of the first process's turn, once it was steered
		lost    bool   // the message is not in the history
		outcome agent.Outcome
		taken   bool
	}{
		"a-tool":      {"!die-steered-tool 3", false, agent.Interrupted, true},
		"at-end-lost": {"!hold-done 3", true, agent.Completed, false},
		"passed-over": {"!pass-over-done 3", false, agent.Completed, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			state, book := "state "+t.TempDir(), &notebook{}
			script := state
			if c.lost {
				script += "; lose-steers"
			}
			first := onFake(t, script, func(cfg *config) { cfg.Journal = book })
			submit(t, first, "j0", "one", "before").wait(t)
			book.most = 3 // of j0, and one of each
			before := submit(t, first, "j1", "one", c.action)
			before.started(t)
			if strings.HasPrefix(name, "passed") {
				eventually(t, "the turn to say all that it says", func() bool { return len(seen[agent.ItemCompleted](before)) > 0 })
			}
			steer(t, first, "j1", "j2", "one", "other")
			eventually(t, "the child to die", func() bool { return first.Health().Child.Restarts > 0 })
			if err := first.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			book.most = 0
			e := onFake(t, state, func(cfg *config) { cfg.Journal = book })
			w := submitCut(t, e, "j1", "one", "!hold", book.last("j1"))
			s := steerCut(t, e, "j1", "j2", "other", book.last("j2"))
			behind := submit(t, e, "j3", "one", "behind")
			end, own := w.wait(t), s.wait(t)
			if end.Outcome != c.outcome || slices.Contains(end.Taken, "j2") != c.taken {
				t.Errorf("end = %s (%v) with %v taken", end.Outcome, end.Failure, end.Taken)
			}
			if !c.taken {
				wantEnd(t, own, agent.Completed, "")
				if said(own) != "other" {
					t.Errorf("the message's own turn says %q", said(own))
				}
			}
			wantEnd(t, behind.wait(t), agent.Completed, "")
		})
	}
}
