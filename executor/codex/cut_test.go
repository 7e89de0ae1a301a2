package codex_test

import (
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// The tests in this file cut attempts off, on an app-server that dies as told.

// TestDeathInMidTurn has every attempt of a message end with the child.
func TestDeathInMidTurn(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		outcome  agent.Outcome
		attempts int
		tools    bool
	}{
		"die 3":            {agent.Interrupted, 2, false}, // run again once, and cut again
		"mute":             {agent.Interrupted, 2, false},
		"orphan 3 group":   {agent.Interrupted, 2, false},
		"die-quiet-tool 3": {agent.Interrupted, 1, true},
		"die-early 3":      {agent.Failed, 3, false}, // each time gone before it was anything
		"die-tool-done 3":  {agent.Completed, 1, true},
	}
	for action, want := range cases {
		t.Run(strings.ReplaceAll(action, " ", "-"), func(t *testing.T) {
			book := &notebook{}
			e := onFake(t, "", func(c *config) { c.Journal = book })
			submit(t, e, "j0", "one", "before").wait(t)
			w := submit(t, e, "j1", "one", "!"+action)
			end := w.wait(t)
			kind := agent.FailUnreachable
			if want.outcome == agent.Completed {
				kind = ""
			}
			wantEnd(t, end, want.outcome, kind)
			if n := len(book.attempts) - 1; n != want.attempts || end.Tools != want.tools {
				t.Errorf("%d attempts and tools %v, want %d and %v", n, end.Tools, want.attempts, want.tools)
			}
			for i, started := range seen[agent.Started](w) {
				if started.Attempt != i+1 {
					t.Errorf("Started %d is of attempt %d", i+1, started.Attempt)
				}
			}
			if end.Failure != nil && (strings.Contains(end.Failure.Message, "panicked") || strings.Contains(end.Failure.Message, "stderr")) {
				t.Errorf("the failure shows codex's last words: %q", end.Failure.Message)
			}
			if want.outcome == agent.Completed && said(end) == "" {
				t.Error("it is completed without its text")
			}
			wantAlive(t, e, "one")
		})
	}
}

// TestCutWithoutARollout cannot rule a tool out.
func TestCutWithoutARollout(t *testing.T) {
	t.Parallel()
	e := onFake(t, "no-rollout", nil)
	end := submit(t, e, "j1", "one", "!die 3").wait(t)
	wantEnd(t, end, agent.Interrupted, agent.FailUnreachable)
	if !end.Tools {
		t.Error("no tool is said to have started, which nobody can know")
	}
}

// TestCancelOfACut wins over the attempt that would follow.
func TestCancelOfACut(t *testing.T) {
	book := &notebook{}
	e := onFake(t, "slow thread/turns/list 20000", func(c *config) { c.Journal = book })
	w := submit(t, e, "j1", "one", "!die 3")
	eventually(t, "the turn to be cut", func() bool { return len(seen[agent.Started](w)) == 1 && e.Health().Child.Restarts == 1 })
	began := time.Now()
	if err := e.Cancel(t.Context(), "j1"); err != nil {
		t.Fatal(err)
	}
	wantEnd(t, w.wait(t), agent.Canceled, "")
	if took := time.Since(began); took > 10*time.Second || len(book.attempts) != 1 {
		t.Errorf("canceled after %s and %d attempts", took, len(book.attempts))
	}
}

// TestNextProcess looks up what the process before it was cut off in.
func TestNextProcess(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		action  string
		first   bool // it was the first turn of its thread
		outcome agent.Outcome
		kind    agent.FailureKind
		started int // the last attempt that is told as started, 0 if none is
		tools   bool
	}{
		"text":        {"!die 3", true, agent.Completed, "", 2, false},
		"early":       {"!die-early 3", true, agent.Completed, "", 2, false},
		"later-early": {"!die-early 3", false, agent.Completed, "", 2, false},
		"quiet-tool":  {"!die-quiet-tool 3", false, agent.Interrupted, agent.FailUnreachable, 0, true},
		"done-tool":   {"!die-tool-done 3", true, agent.Completed, "", 1, true},
		"failed-done": {"!fail other no", false, agent.Failed, agent.FailModel, 1, false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			state, book := "state "+t.TempDir(), &notebook{}
			cutOff(t, state, book, test.first, test.action)
			e := onFake(t, state, func(c *config) { c.Journal = book })
			w := submitCut(t, e, "j1", "one", "hello", book.last("j1"))
			end := w.wait(t)
			wantEnd(t, end, test.outcome, test.kind)
			last := 0
			for _, started := range seen[agent.Started](w) {
				last = started.Attempt
			}
			if last != test.started || end.Tools != test.tools {
				t.Errorf("attempt %d and tools %v, want %d and %v", last, end.Tools, test.started, test.tools)
			}
			if n := len(seen[agent.Notice](w)); n != 0 {
				t.Errorf("%d notices, want none: no history was lost", n)
			}
			wantAlive(t, e, "one")
		})
	}
}

// cutOff runs a message as attempt 1 of j1 and leaves things as a process does
// that is killed in the middle of it.
func cutOff(t *testing.T, state string, book *notebook, first bool, action string) {
	t.Helper()
	e := onFake(t, state, func(c *config) { c.Journal = book })
	if !first {
		submit(t, e, "j0", "one", "before").wait(t)
	}
	book.most = len(book.attempts) + 1 // no attempt follows
	w := submit(t, e, "j1", "one", action)
	eventually(t, "the attempt to end", func() bool {
		return e.Health().Child.Restarts > 0 || len(seen[agent.Ended](w)) > 0
	})
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.wait(t)
	book.most = 0
}

// TestSecondCutOverProcesses does not run a message a third time.
func TestSecondCutOverProcesses(t *testing.T) {
	t.Parallel()
	state, book := "state "+t.TempDir(), &notebook{}
	for i, want := range []agent.FailureKind{agent.FailShutdown, agent.FailShutdown, agent.FailUnreachable} {
		e := onFake(t, state, func(c *config) { c.Journal = book })
		w := submitCut(t, e, "j1", "one", "!hang", book.last("j1"))
		if want == agent.FailShutdown {
			eventually(t, "the turn to start", func() bool { return len(seen[agent.Started](w)) == 1 })
			if err := e.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		end := w.wait(t)
		wantEnd(t, end, agent.Interrupted, want)
		if end.Tools {
			t.Errorf("process %d: no tool started", i+1)
		}
	}
}

// TestWriterIsWaitedOut has the codex of a killed process still hold the thread.
func TestWriterIsWaitedOut(t *testing.T) {
	t.Parallel()
	state, book := "state "+t.TempDir(), &notebook{}
	cutOff(t, state, book, false, "!die 3")
	script := state + "; refuse-first thread/resume thread x already has an active writer"
	e := onFake(t, script, func(c *config) { c.Journal = book })
	wantEnd(t, submitCut(t, e, "j1", "one", "hello", book.last("j1")).wait(t), agent.Completed, "")
}

// TestCutOnAnEarlierThread goes on with the newer one.
func TestCutOnAnEarlierThread(t *testing.T) {
	t.Parallel()
	for action, outcome := range map[string]agent.Outcome{"!die 3": agent.Completed, "!die-early 3": agent.Completed, "!die-tool 3": agent.Interrupted} {
		t.Run(strings.Fields(action)[0][1:], func(t *testing.T) {
			state, book := "state "+t.TempDir(), &notebook{}
			cutOff(t, state, book, true, action)
			cut := book.last("j1")
			e := onFake(t, state, func(c *config) { c.Journal = book })
			wantEnd(t, submit(t, e, "j2", "other", "hello").wait(t), agent.Completed, "")
			newer := book.last("j2").ThreadID
			book.attempts[1].Conversation = "one"
			w := submitCut(t, e, "j1", "one", "hello", cut)
			end := w.wait(t)
			if end.Outcome != outcome {
				t.Errorf("end = %+v, want it %s", end, outcome)
			}
			wantEnd(t, submit(t, e, "j3", "one", "hello").wait(t), agent.Completed, "")
			for _, a := range book.attempts[1:] {
				if a.Thread != newer {
					t.Errorf("%+v is not on %s", a, newer)
				}
			}
		})
	}
}
