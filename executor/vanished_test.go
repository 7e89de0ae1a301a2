package executor_test

import (
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// picture has a job bring one.
func picture(j *executor.Job) {
	j.Input = append(j.Input, agent.Input{Type: agent.InputLocalImage, Path: "/picture.png"})
}

// givenUp holds an end to that of a job that has ended the agent each time.
func (w *witness) givenUp() {
	w.t.Helper()
	end := w.ends(agent.Interrupted, agent.FailUnreachable)
	if end.Tools || !strings.Contains(end.Failure.Message, "has ended 3 times before the model had this message") {
		w.t.Errorf("tools %v, %q", end.Tools, end.Failure.Message)
	}
}

// TestKilledOverAPicture: a message that the agent is killed over, each time before it has
// asked the model, is given to it three times. Killed over a text it is for other reasons.
func TestKilledOverAPicture(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]func(*scripted){
		"killed-early":  func(a *scripted) { a.script("j1", play{diesEarly(true)}) },
		"died-early":    func(a *scripted) { a.script("j1", play{diesEarly(false)}) },
		"killed-before": func(a *scripted) { a.begin = vanishes(true) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			simulated(t, func(_ *executor.Config, a *scripted) { how(a) }, func(t *testing.T, e *rig) {
				e.submit("j1", "one", picture).givenUp()
				if n := e.journal.begun("j1"); n != 3 {
					t.Errorf("%d attempts, want 3", n)
				}
			})
		})
	}
}

// TestKilledOverAText takes eleven times for bad luck.
func TestKilledOverAText(t *testing.T) {
	t.Parallel()
	simulated(t, func(_ *executor.Config, a *scripted) { a.begin = vanishes(true) }, func(t *testing.T, e *rig) {
		end := e.submit("j1", "one").ends(agent.Interrupted, agent.FailUnreachable)
		if n := e.journal.begun("j1"); n != 12 || !strings.Contains(end.Failure.Message, "12 times") {
			t.Errorf("%d attempts, and it says %q", n, end.Failure.Message)
		}
	})
}

// TestKilledWithTheRuntimeOverAPicture has each process make one attempt: the journal counts.
func TestKilledWithTheRuntimeOverAPicture(t *testing.T) {
	t.Parallel()
	simulated(t, nil, func(t *testing.T, e *rig) {
		attempt := func(n int) change {
			return func(j *executor.Job) { j.Cut = &executor.Cut{Attempt: n, ThreadID: threadOf(j.Context)} }
		}
		for n := range 3 { // the attempts that each process has left behind
			e = e.next(nil)
			e.agent.script("j1", play{hangs})
			w := e.submit("j1", "one", picture, attempt(n+1))
			if n == 2 {
				w.givenUp()
				break
			}
			w.starts()
			e.agent.past.change(func() { e.agent.past.all = nil })
			e.close()
			w.ends(agent.Interrupted, agent.FailShutdown)
		}
		e = e.next(nil) // also where the end was not written down
		e.submit("j1", "one", picture, attempt(3)).givenUp()
		if n := e.journal.begun("j1"); n != 2 {
			t.Errorf("%d attempts were made, want two beside the first", n)
		}
	})
}

// TestDeathAtEveryTry gives up, and says so, after the last.
func TestDeathAtEveryTry(t *testing.T) {
	t.Parallel()
	simulated(t, func(_ *executor.Config, a *scripted) { a.begin = vanishes(false) }, func(t *testing.T, e *rig) {
		e.submit("j1", "one").ends(agent.Failed, agent.FailUnreachable)
		if n := e.journal.begun("j1"); n != 3 {
			t.Errorf("%d attempts, want 3", n)
		}
	})
}
