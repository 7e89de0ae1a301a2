package codex_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
)

// The tests in this file have codex not start for a while.

// withoutCodex runs a test in simulated time, on an executor whose codex is not there.
func withoutCodex(t *testing.T, test func(*testing.T, *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e := newRig(config{driverConfig: nowhere("/nowhere/codex"), schedulerConfig: schedulerConfig{MaxTurns: 1, StartWait: 2 * time.Minute}})
		defer func() {
			if err := e.Close(context.Background()); err != nil {
				t.Errorf("Close: %v", err)
			}
		}()
		test(t, e)
	})
}

// endsWithin waits for the end of a job, and checks that it comes in time, and which it is.
func endsWithin(t *testing.T, w *witness, least, most time.Duration, outcome agent.Outcome, kind agent.FailureKind) agent.Ended {
	t.Helper()
	began := time.Now()
	end := <-w.ended
	if took := time.Since(began); took < least || took > most {
		t.Errorf("it ends after %v, want %v to %v", took, least, most)
	}
	wantEnd(t, end, outcome, kind)
	return end
}

// TestWaitsForCodex: who waits for an answer is told at once that codex cannot be started; others
// wait in their places, for as long as is set.
func TestWaitsForCodex(t *testing.T) {
	t.Parallel()
	const soon = 4 * time.Second
	withoutCodex(t, func(t *testing.T, e *rig) {
		first := submitPatient(t, e, "j1", "one", "hello")
		behind := submitPatient(t, e, "j2", "one", "hello")
		time.Sleep(10 * time.Second)
		for _, context := range []string{"one", "two"} {
			w := submit(t, e, "blocking-"+context, context, "hello")
			end := endsWithin(t, w, 0, soon, agent.Failed, agent.FailUnreachable)
			if !strings.HasPrefix(end.Failure.Message, "codex could not be started (") || len(seen[agent.Notice](w)) > 0 {
				t.Errorf("who waits is told %q, with %+v before", end.Failure.Message, seen[agent.Notice](w))
			}
		}
		if h := e.Health(); h.Running != 0 {
			t.Errorf("%d run, want none to hold a slot", h.Running)
		}
		end := endsWithin(t, first, 2*time.Minute-10*time.Second-2*soon, 2*time.Minute, agent.Failed, agent.FailUnreachable)
		notices := seen[agent.Notice](first)
		if len(notices) != 1 || !strings.Contains(notices[0].Text, "/nowhere/codex") || !strings.Contains(notices[0].Text, "keeps its place") {
			t.Errorf("notices %+v", notices)
		}
		if !strings.HasSuffix(end.Failure.Message, "runtime doctor says what to do") {
			t.Errorf("the end says %q", end.Failure.Message)
		}
		endsWithin(t, behind, 0, soon, agent.Failed, agent.FailUnreachable)
		time.Sleep(time.Hour) // the row of failures goes on
		endsWithin(t, submitPatient(t, e, "j3", "one", "hello"), 0, soon, agent.Failed, agent.FailUnreachable)
	})
}

// TestWaitForCodexEnds with a cancel and with the runtime, at once.
func TestWaitForCodexEnds(t *testing.T) {
	t.Parallel()
	waiting := func(t *testing.T, e *rig) *witness {
		w := submitPatient(t, e, "j1", "one", "hello")
		time.Sleep(10*time.Second + 1)
		if len(w.ended) > 0 {
			t.Fatalf("it does not wait: %+v", <-w.ended)
		}
		return w
	}
	withoutCodex(t, func(t *testing.T, e *rig) {
		w := waiting(t, e)
		cancel(t, e, "j1")
		endsWithin(t, w, 0, 0, agent.Canceled, "")
	})
	withoutCodex(t, func(t *testing.T, e *rig) {
		w := waiting(t, e)
		began := time.Now()
		if err := errors.Join(e.Drain(t.Context()), e.Close(t.Context())); err != nil || time.Since(began) > 0 {
			t.Errorf("Drain and Close after %v: %v", time.Since(began), err)
		}
		endsWithin(t, w, 0, 0, agent.Interrupted, agent.FailShutdown)
	})
}

// fails makes starts of codex fail: the numbers from one to another, counted from 1.
func fails(from, to int64) func(*config) {
	return func(c *config) {
		var n atomic.Int64
		env := c.Child.Env
		c.StartWait = time.Hour
		c.Prepare = func(context.Context) (codex.Launch, error) {
			if i := n.Add(1); from <= i && i <= to {
				return codex.Launch{}, codex.Unready("codex is being replaced")
			}
			return codex.Launch{Env: env}, nil
		}
	}
}

// TestCutWaitsForCodex: what became of a turn that was cut off is asked when codex is there again, more
// starts later than it is asked otherwise.
func TestCutWaitsForCodex(t *testing.T) {
	t.Parallel()
	e := onFake(t, "once; turn die-done 3", fails(2, 5))
	w := submitPatient(t, e, "j1", "one", "hello")
	end := w.wait(t)
	wantEnd(t, end, agent.Completed, "")
	if n := len(seen[agent.Started](w)); n != 1 || len(seen[agent.Notice](w)) != 1 || said(end) != "hello" {
		t.Errorf("%d attempts, notices %+v, said %q", n, seen[agent.Notice](w), said(end))
	}
}
