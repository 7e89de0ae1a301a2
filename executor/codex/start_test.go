package codex_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// The tests in this file are about the way of a message to its turn.

// TestRefusedForTheMoment offers a message again that codex has certainly not taken.
func TestRefusedForTheMoment(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]string{
		"thread-gone": "turn/start thread not found: x",
		"overloaded":  "turn/start Server overloaded; retry later.",
	} {
		t.Run(name, func(t *testing.T) {
			e := onFake(t, "refuse-first "+refusal, nil)
			wantEnd(t, submit(t, e, "j1", "one", "hello").wait(t), agent.Completed, "")
		})
	}
}

// TestRefusedForGood ends a message whose thread/start codex will not have.
func TestRefusedForGood(t *testing.T) {
	t.Parallel()
	e := onFake(t, "refuse thread/start no such model", nil)
	end := submit(t, e, "j1", "one", "hello").wait(t)
	wantEnd(t, end, agent.Failed, agent.FailModel)
	if !strings.Contains(end.Failure.Message, "no such model") {
		t.Errorf("message = %q, want codex's reason", end.Failure.Message)
	}
}

// TestTakenButNotAnswered must not run it twice: the turn ran, and the history
// shows how it ended.
func TestTakenButNotAnswered(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", func(c *config) { c.Patience = 2 * time.Second })
	submit(t, e, "j0", "one", "before").wait(t)
	w := submit(t, e, "j1", "one", "!no-start-answer")
	end := w.wait(t)
	wantEnd(t, end, agent.Completed, "")
	if started := seen[agent.Started](w); len(started) != 1 || started[0].TurnID == "" || said(end) == "" {
		t.Errorf("Started = %+v, said %q, want the turn and its answer", started, said(end))
	}
}

// TestKilledWhileStarting starts codex again for a message that waits for it, as
// often as another process kills it, within reason.
func TestKilledWhileStarting(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", killedAtStart(t, 4))
	wantEnd(t, submit(t, e, "j1", "one", "hello").wait(t), agent.Completed, "")
}

// TestKilledOverAText offers a message again that codex was killed over, more often than one that codex has failed over.
func TestKilledOverAText(t *testing.T) {
	t.Parallel()
	book := &notebook{}
	e := onFake(t, "", func(c *config) { c.Journal = book })
	w := submit(t, e, "j1", "one", "!die-before 137")
	eventually(t, "the fourth attempt", func() bool { return len(w.ended) > 0 || book.attemptsAt("j1") >= 4 })
	if n := book.attemptsAt("j1"); n < 4 {
		t.Errorf("it has ended after %d attempts: %+v", n, w.wait(t))
	}
}

// killedAtStart has codex killed by SIGKILL at its first starts, n of them.
func killedAtStart(t *testing.T, n int) func(*config) {
	t.Helper()
	dir := t.TempDir()
	return func(c *config) {
		c.StartWait = time.Hour
		text := fmt.Sprintf("#!/bin/sh\necho >>%[1]s/starts\n[ $(wc -l <%[1]s/starts) -gt %[2]d ] || kill -9 $$\nexec %[3]s \"$@\"\n", dir, n, c.Child.Bin)
		c.Child.Bin = filepath.Join(dir, "codex")
		syscall.ForkLock.RLock() // a file that another child has open for writing cannot be executed
		defer syscall.ForkLock.RUnlock()
		if err := os.WriteFile(c.Child.Bin, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDeafHistory bounds the look whether a message was taken.
func TestDeafHistory(t *testing.T) {
	t.Parallel()
	e := onFake(t, "no-answer thread/turns/list", func(c *config) { c.Patience = 1500 * time.Millisecond })
	submit(t, e, "j0", "one", "before").wait(t)
	end := submit(t, e, "j1", "one", "!die-before 3").wait(t)
	wantEnd(t, end, agent.Interrupted, agent.FailUnreachable)
}

// TestCancelWhileStarting cancels while codex has not answered turn/start.
func TestCancelWhileStarting(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	for name, test := range map[string]struct {
		stop    func(*rig) error
		outcome agent.Outcome
		kind    agent.FailureKind
	}{
		"cancel": {func(e *rig) error { return e.Cancel(t.Context(), "j1") }, agent.Canceled, ""},
		"close":  {func(e *rig) error { return e.Close(t.Context()) }, agent.Interrupted, agent.FailShutdown},
	} {
		t.Run(name, func(t *testing.T) {
			e := onFake(t, "", func(c *config) { c.Patience = 2 * time.Second })
			submit(t, e, "j0", "one", "before").wait(t)
			w := submit(t, e, "j1", "one", "!no-start-answer")
			eventually(t, "the job to hold its slot", func() bool { return e.Health().Running == 1 })
			if err := test.stop(e); err != nil {
				t.Fatal(err)
			}
			wantEnd(t, w.wait(t), test.outcome, test.kind)
		})
	}
}

// TestUnloadThatIsCut cancels the job that needs another thread's room while
// codex is slow to give it; the other conversation must not notice.
func TestUnloadThatIsCut(t *testing.T) {
	t.Parallel()
	e := onFake(t, "slow thread/unsubscribe 300", func(c *config) {
		c.MaxThreads, c.IdleTimeout = 1, 5*time.Second
	})
	submit(t, e, "j1", "one", "first").wait(t)
	w := submit(t, e, "j2", "two", "pushes one out")
	eventually(t, "the job to hold its slot", func() bool { return e.Health().Running == 1 })
	if err := e.Cancel(t.Context(), "j2"); err != nil {
		t.Fatal(err)
	}
	w.wait(t)
	wantEnd(t, submit(t, e, "j3", "one", "again").wait(t), agent.Completed, "")
}

// TestThreadThatComesTooLate is put away again: no message would ever use it.
func TestThreadThatComesTooLate(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	var wire lockedBuffer
	e := onFake(t, "slow thread/start 3000", func(c *config) { c.Child.Wire = &wire })
	w := submit(t, e, "j1", "one", "hello")
	eventually(t, "thread/start to be called", func() bool { return strings.Contains(wire.String(), "thread/start") })
	if err := e.Cancel(t.Context(), "j1"); err != nil {
		t.Fatal(err)
	}
	wantEnd(t, w.wait(t), agent.Canceled, "")
	eventually(t, "the thread to be put away", func() bool { return strings.Contains(wire.String(), "thread/unsubscribe") })
	wantAlive(t, e, "one")
}

// TestKnownThreadThatComesTooLate is put away, too, before it is loaded again: it would stay loaded
// for ever.
func TestKnownThreadThatComesTooLate(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	var wire lockedBuffer
	state := t.TempDir()
	e := onFake(t, "state "+state+"; slow thread/resume 1500", func(c *config) { c.Child.Wire = &wire })
	wantEnd(t, submit(t, e, "j1", "one", "hello").wait(t), agent.Completed, "")
	killCodex(t, e)
	w := submit(t, e, "j2", "one", "hello")
	eventually(t, "thread/resume to be called", func() bool { return strings.Contains(wire.String(), "thread/resume") })
	cancel(t, e, "j2")
	wantEnd(t, w.wait(t), agent.Canceled, "")
	wantAlive(t, e, "one")
	first, then, _ := strings.Cut(wire.String(), "thread/unsubscribe")
	if strings.Count(first, "thread/resume") != 1 || strings.Count(then, "thread/resume") != 1 {
		t.Errorf("the wire has %s", wire.String())
	}
}

// TestThreadThatIsClosing can be had as soon as it is closed.
func TestThreadThatIsClosing(t *testing.T) {
	t.Parallel()
	e := onFake(t, "state "+t.TempDir()+"; refuse-first thread/resume thread t is closing", nil)
	w := submit(t, e, "j1", "one", "hello")
	wantEnd(t, w.wait(t), agent.Completed, "")
	thread := seen[agent.Started](w)[0].ThreadID
	killCodex(t, e)
	w = submit(t, e, "j2", "one", "hello")
	wantEnd(t, w.wait(t), agent.Completed, "")
	if got := seen[agent.Started](w)[0]; got.ThreadID != thread || got.Replaced {
		t.Errorf("in thread %s, want %s", got.ThreadID, thread)
	}
}

// killCodex returns when it is known that codex is dead.
func killCodex(t *testing.T, e *rig) {
	t.Helper()
	before := e.Health().Child
	_ = syscall.Kill(before.Pid, syscall.SIGKILL)
	eventually(t, "the end of codex", func() bool { return e.Health().Child.Restarts > before.Restarts })
}

// A lockedBuffer is a wire, or a log, as a text.
type lockedBuffer struct {
	mu  sync.Mutex
	buf strings.Builder
}

func (b *lockedBuffer) add(line []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.buf.Write(append(slices.Clip(line), '\n'))
}

// Write makes it the end of a log.
func (b *lockedBuffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(text)
}

func (b *lockedBuffer) Started(int)          {}
func (b *lockedBuffer) Sent(line []byte)     { b.add(line) }
func (b *lockedBuffer) Received(line []byte) { b.add(line) }
func (b *lockedBuffer) Dropped(int64)        {}
func (b *lockedBuffer) Ended(any)            {}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// TestLostCompletionBesideAChattyCommand has an earlier turn's command talk on.
func TestLostCompletionBesideAChattyCommand(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", nil)
	wantEnd(t, submit(t, e, "j1", "one", "!lose-completed-chatty").wait(t), agent.Completed, "")
}

// TestCloseIsBoundedWithoutTurns bounds the child's own end, too.
func TestCloseIsBoundedWithoutTurns(t *testing.T) {
	e := onFake(t, "ignore-end; ignore-term", func(c *config) { c.Child.Grace = time.Minute })
	submit(t, e, "j1", "one", "hello").wait(t)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	err := e.Close(ctx)
	if took := time.Since(began); err == nil || took > 30*time.Second {
		t.Errorf("Close = %v after %s, want an error soon after 200 ms", err, took)
	}
}

// TestRunningVersion: what runs is not what the runtime was made for.
func TestRunningVersion(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	e := onFake(t, "", func(c *config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	wantEnd(t, submit(t, e, "j1", "one", "hello").wait(t), agent.Completed, "")
	if got := e.Health().Child.Version; got != "0.0.0" {
		t.Errorf("version = %q, want that of the fake", got)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), `msg="codex is ready"`) || !strings.Contains(log.String(), "version=0.0.0") {
		t.Errorf("log: %s", log.String())
	}
}
