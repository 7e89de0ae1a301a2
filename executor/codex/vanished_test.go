package codex_test

import (
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// submitPicture submits a job that brings a picture.
func submitPicture(t *testing.T, e *rig, id, text string, cut *executor.Cut) *witness {
	t.Helper()
	w := &witness{ended: make(chan agent.Ended, 1)}
	input := []agent.Input{agent.Text(text), {Type: "localImage", Path: "/picture.png"}}
	if _, err := e.Submit(executor.Job{ID: id, Context: "one", Input: input, Cut: cut}, w.observe); err != nil {
		t.Fatal(err)
	}
	return w
}

// wantGivenUp holds an end to that of a job that has ended codex each time.
func wantGivenUp(t *testing.T, end agent.Ended) {
	t.Helper()
	wantEnd(t, end, agent.Interrupted, agent.FailUnreachable)
	if end.Tools || !strings.Contains(end.Failure.Message, "has ended 3 times before the model had this message") {
		t.Errorf("tools %v, %q", end.Tools, end.Failure.Message)
	}
}

// TestKilledOverAPicture: a message that codex is killed over, each time before it has
// asked the model, is given to it three times. Killed over a text it is for other reasons.
func TestKilledOverAPicture(t *testing.T) {
	t.Parallel()
	for _, action := range []string{"!die-early 137", "!die-before 137", "!die-early 3"} {
		t.Run(strings.ReplaceAll(action, " ", "-"), func(t *testing.T) {
			t.Parallel()
			book := &notebook{}
			e := onFake(t, "", func(c *config) { c.Journal = book })
			wantGivenUp(t, submitPicture(t, e, "j1", action, nil).wait(t))
			if n := len(book.attempts); n != 3 {
				t.Errorf("%d attempts, want 3", n)
			}
			wantAlive(t, e, "one")
		})
	}
}

// TestKilledOverAText takes four times for bad luck.
func TestKilledOverAText(t *testing.T) {
	t.Parallel()
	state, book := "state "+t.TempDir(), &notebook{}
	e := onFake(t, state, func(c *config) { c.Journal = book })
	w := submit(t, e, "j1", "one", "!die-early 137")
	eventually(t, "the fourth attempt", func() bool {
		book.mu.Lock()
		defer book.mu.Unlock()
		return len(book.attempts) >= 4
	})
	select {
	case end := <-w.ended:
		t.Errorf("it has ended: %+v", end)
	default:
	}
}

// TestKilledWithTheRuntimeOverAPicture has each process make one attempt: the journal counts.
func TestKilledWithTheRuntimeOverAPicture(t *testing.T) {
	t.Parallel()
	state, book := "state "+t.TempDir(), &notebook{}
	for n := 1; n <= 3; n++ {
		book.most = n // no attempt follows
		e := onFake(t, state, func(c *config) { c.Journal = book })
		w := submitPicture(t, e, "j1", "!die-early 137", book.last("j1"))
		eventually(t, "the attempt to end", func() bool { return len(w.ended) > 0 || e.Health().Child.Restarts > 0 })
		if err := e.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.wait(t)
	}
	book.most = 0
	for range 2 { // also where the end was not written down
		e := onFake(t, state, func(c *config) { c.Journal = book })
		wantGivenUp(t, submitPicture(t, e, "j1", "hello", book.last("j1")).wait(t))
	}
	if n := len(book.attempts); n != 3 {
		t.Errorf("%d attempts, want 3", n)
	}
}
