package codex_test

import (
	"slices"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
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
	t.Parallel()
	cases := map[string]struct {
		script, turn string
		says         string // the turn
		own          bool   // the message had a turn of its own
		attempts     int    // at the message
		steered      int    // how often that was said
	}{
		"taken":         {"", "!hold", "!hold\nother", false, 1, 1},
		"refused":       {"refuse turn/steer cannot steer a review turn", "!tool 3000", "!tool 3000", true, 2, 0},
		"lost":          {"lose-steers", "!hold", "!hold", true, 2, 1},
		"unanswered":    {"unanswered turn/steer", "!hold", "!hold\nother", false, 1, 1},
		"never-seen":    {"no-answer turn/steer", "!tool 3000", "!tool 3000", true, 2, 0},
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

// TestSteerAndDeathOfTheFake has the turn run again, with the message if it comes in
// time: the second turn is a short one.
func TestSteerAndDeathOfTheFake(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"once; turn die-steered 3", "once; lose-steers; turn die-steered 3"} {
		e := onFake(t, script, nil)
		w := submit(t, e, "j1", "one", "hello")
		eventually(t, "the turn to start", started(w))
		s := steer(t, e, "j1", "j2", "one", "other")
		end, own := w.wait(t), s.wait(t)
		if end.Outcome != agent.Completed || own.Outcome != agent.Completed || len(seen[agent.Started](w)) != 2 {
			t.Errorf("ends = %+v and %+v", end, own)
		}
		if taken := len(end.Taken) == 1; taken == (said(own) == "other") {
			t.Errorf("%v was taken, and the message's own turn says %q", end.Taken, said(own))
		}
	}
}

func startOf(w *witness) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.began
}

// TestSteerRefused says at once that the message waits.
func TestSteerRefused(t *testing.T) {
	t.Parallel()
	e := onFake(t, "refuse turn/steer cannot steer a review turn", nil)
	w := submit(t, e, "j1", "one", "!hang")
	eventually(t, "the turn to start", started(w))
	before := submit(t, e, "j2", "one", "before")
	s := steer(t, e, "j1", "j3", "one", "other")
	eventually(t, "it to be said", func() bool { return len(seen[agent.Unsteered](s)) == 1 })
	if told := seen[agent.Unsteered](s)[0]; told.Ahead != 2 || len(w.ended) != 0 {
		t.Errorf("told %+v", told)
	}
	if err := e.Cancel(t.Context(), "j1"); err != nil {
		t.Fatal(err)
	}
	before.wait(t)
	if end := s.wait(t); said(end) != "other" {
		t.Errorf("its own turn says %q", said(end))
	}
}

// TestSteerThatHadItsTurn does not hand a message to a turn that is run again when
// it has had a turn of its own since: the end of the one before was not written down.
func TestSteerThatHadItsTurn(t *testing.T) {
	t.Parallel()
	state, book := "state "+t.TempDir(), &notebook{}
	cutOff(t, state, book, false, "!die-tool 3") // as j1
	if err := book.Begin(t.Context(), executor.Attempt{Job: "j9", N: 1, Conversation: "one", Thread: book.attempts[0].Thread}); err != nil {
		t.Fatal(err)
	}
	e := onFake(t, state, func(c *config) { c.Journal = book })
	w := submitCut(t, e, "j9", "one", "hello", book.last("j9"))
	s := steerCut(t, e, "j9", "j1", "other", book.last("j1"))
	if end := w.wait(t); said(end) != "hello" || len(end.Taken) != 0 {
		t.Errorf("the turn says %q with %v taken", said(end), end.Taken)
	}
	wantEnd(t, s.wait(t), agent.Interrupted, agent.FailUnreachable)
}

// TestSteerAndTimer interrupts a turn that has not got to what it was sent.
func TestSteerAndTimer(t *testing.T) {
	t.Parallel()
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), func(c *config) { c.ItemTimeout = 8 * time.Second })
	w := submit(t, e, "j1", "one", "run sleep 61")
	eventually(t, "the command to run", func() bool { return commandRuns(w) })
	s := steer(t, e, "j1", "j2", "one", "say own")
	eventually(t, "codex to take it", steered(s))
	end := w.wait(t)
	wantEnd(t, end, agent.Failed, agent.FailTimeout)
	if own := s.wait(t); len(end.Taken) != 0 || said(own) != "own" {
		t.Errorf("%v was taken, and its own turn says %q", end.Taken, said(own))
	}
}

// TestSteerWithoutABook sends nothing to codex that is not written down.
func TestSteerWithoutABook(t *testing.T) {
	t.Parallel()
	book := &notebook{}
	e := onFake(t, "", func(c *config) { c.Journal = book })
	w := submit(t, e, "j1", "one", "!hold")
	eventually(t, "the turn to start", started(w))
	book.mu.Lock()
	book.refuse = 1
	book.mu.Unlock()
	s := steer(t, e, "j1", "j2", "one", "other")
	if end := w.wait(t); len(end.Taken) != 0 && len(seen[agent.Notice](s)) == 0 {
		t.Errorf("%v was taken", end.Taken)
	}
	if end := s.wait(t); end.Outcome != agent.Completed {
		t.Errorf("end = %+v", end)
	}
}

// TestSteerAndClose leaves both to the next process, which asks the history.
func TestSteerAndClose(t *testing.T) {
	t.Parallel()
	for _, there := range []bool{true, false} {
		script := "state " + t.TempDir()
		if !there {
			script += "; lose-steers"
		}
		book := &notebook{}
		e := onFake(t, script, func(c *config) { c.Journal = book })
		w := submit(t, e, "j1", "one", "!hang")
		eventually(t, "the turn to start", started(w))
		s := steer(t, e, "j1", "j2", "one", "other")
		eventually(t, "codex to take it", steered(s))
		if err := e.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, end := range []agent.Ended{w.wait(t), s.wait(t)} {
			wantEnd(t, end, agent.Interrupted, agent.FailShutdown)
			if end.Tools || len(end.Taken) != 0 {
				t.Errorf("end = %+v, want it left to the next process", end)
			}
		}
		next := onFake(t, script, func(c *config) { c.Journal = book })
		w = submitCut(t, next, "j1", "one", "!hold", book.last("j1"))
		s = steerCut(t, next, "j1", "j2", "other", book.last("j2"))
		end, own := w.wait(t), s.wait(t)
		wantEnd(t, end, agent.Completed, "")
		wantEnd(t, own, agent.Completed, "")
		if there && said(end) != "!hold\nother" || !there && said(own) != "other" {
			t.Errorf("there %v: the turn says %q, the message's own %q", there, said(end), said(own))
		}
	}
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

// TestSteerOfTheProcessBefore finds out what became of a message to a turn that
// neither process has seen the end of.
func TestSteerOfTheProcessBefore(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		action  string // of the first process's turn, once it was steered
		lost    bool   // the message is not in the history
		outcome agent.Outcome
		taken   bool
	}{
		"words":        {"!die-steered 3", false, agent.Completed, true}, // both again
		"words-lost":   {"!die-steered 3", true, agent.Completed, true},
		"a-tool":       {"!die-steered-tool 3", false, agent.Interrupted, true},
		"a-tool-lost":  {"!die-steered-tool 3", true, agent.Interrupted, false},
		"at-end":       {"!hold-done 3", false, agent.Completed, true},
		"at-end-lost":  {"!hold-done 3", true, agent.Completed, false},
		"never-a-turn": {"", true, agent.Completed, true},
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
			if c.action != "" {
				book.most = 3 // of j0, and one of each
				w := submit(t, first, "j1", "one", c.action)
				eventually(t, "the turn to start", started(w))
				s := steer(t, first, "j1", "j2", "one", "other")
				eventually(t, "the child to die", func() bool { return first.Health().Child.Restarts > 0 })
				if err := first.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				w.wait(t)
				s.wait(t)
				book.most = 0
			} else if err := first.Close(t.Context()); err != nil {
				t.Fatal(err)
			} else {
				for _, id := range []string{"j1", "j2"} {
					_ = book.Begin(t.Context(), executor.Attempt{Job: id, N: 1, Conversation: "one", Thread: book.attempts[0].Thread})
				}
			}
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

// TestSteerBesideAHold says nothing of a hold to a message that is with a turn, and
// all of it once it waits.
func TestSteerBesideAHold(t *testing.T) {
	t.Parallel()
	e := onFake(t, "lose-steers", func(c *config) { c.LoginProbe, c.KeyVariable = time.Hour, "KEY" })
	w := submit(t, e, "j1", "one", "!hang")
	eventually(t, "the turn to start", started(w))
	before := submit(t, e, "j2", "one", "before")
	s := steer(t, e, "j1", "j3", "one", "other")
	eventually(t, "codex to take it", steered(s))
	heldWith(t, submit(t, e, "j4", "two", "!fail unauthorized bad key"))
	heldWith(t, before)
	if told := seen[agent.Paused](s); len(told) != 0 {
		t.Errorf("a message that does not wait was told %+v", told)
	}
	if err := e.Cancel(t.Context(), "j1"); err != nil {
		t.Fatal(err)
	}
	heldWith(t, s)
}

// TestCancelOfWhatTheProcessBeforeHasSteered while another turn runs: nothing of it
// is waited for.
func TestCancelOfWhatTheProcessBeforeHasSteered(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", nil)
	w := submit(t, e, "j0", "one", "!hang")
	eventually(t, "the turn to start", started(w))
	j := submitCut(t, e, "j1", "one", "hello", &executor.Cut{Attempt: 1, ThreadID: "thread"})
	canceled := steerCut(t, e, "j1", "j2", "other", &executor.Cut{Attempt: 1, ThreadID: "thread"})
	left := steerCut(t, e, "j1", "j3", "third", &executor.Cut{Attempt: 1, ThreadID: "thread"})
	for _, id := range []string{"j2", "j1"} {
		if err := e.Cancel(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	wantEnd(t, j.wait(t), agent.Canceled, "")
	wantEnd(t, canceled.wait(t), agent.Canceled, "")
	if h := e.Health(); h.Waiting != 1 || len(left.ended) != 0 {
		t.Errorf("%d wait, want the one that was not canceled", h.Waiting)
	}
	if err := e.Cancel(t.Context(), "j0"); err != nil {
		t.Fatal(err)
	}
	left.wait(t)
}
