package codex_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// TestLostThreadIsReplaced tells the reader and goes on with a new thread.
func TestLostThreadIsReplaced(t *testing.T) {
	t.Parallel()
	e := onFake(t, "refuse thread/resume no rollout found for thread id x; turn echo", func(c *config) { c.MaxThreads = 1 })
	submit(t, e, "j1", "one", "first").wait(t)
	n := 0
	eventually(t, "the thread to be pushed out and replaced", func() bool {
		n++ // a conversation is idle only a moment after its job has ended, and room is made for new threads only
		submit(t, e, fmt.Sprintf("other%d", n), fmt.Sprintf("two%d", n), "pushes one out").wait(t)
		w := submit(t, e, fmt.Sprintf("again%d", n), "one", "again")
		wantEnd(t, w.wait(t), agent.Completed, "")
		notices := seen[agent.Notice](w)
		replaced := seen[agent.Started](w)[0].Replaced
		if replaced != (len(notices) == 1 && strings.Contains(notices[0].Text, "lost")) {
			t.Errorf("replaced %v, notices = %+v, want one about the lost history", replaced, notices)
		}
		return replaced
	})
}

// TestLossBehindACut: the process died in an attempt on a thread that codex does
// not have any more. If the thread had turns, somebody has deleted it, and nobody
// can tell what the attempt has done. If not, codex had no time to make it, and
// only what was before it, in other threads, is a loss.
func TestLossBehindACut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		used, turned, tool bool
		outcome            agent.Outcome
	}{
		"first-turn":     {false, false, false, agent.Completed},
		"replaced":       {true, false, false, agent.Completed},
		"deleted":        {true, true, false, agent.Interrupted},
		"tool-was-noted": {false, false, true, agent.Interrupted},
	} {
		t.Run(name, func(t *testing.T) {
			book := &notebook{used: c.used, turned: c.turned}
			first := onFake(t, "", func(cfg *config) { cfg.Journal = book })
			submit(t, first, "j0", "one", "before").wait(t)
			if err := first.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			e := onFake(t, "refuse thread/resume no rollout found for thread id x; turn echo", func(cfg *config) { cfg.Journal = book })
			w := submitCut(t, e, "j1", "one", "hello", &executor.Cut{Attempt: 1, ThreadID: book.attempts[0].Thread, Tool: c.tool})
			if end := w.wait(t); end.Outcome != c.outcome || end.Tools != (c.outcome == agent.Interrupted) {
				t.Errorf("ended as %s, tools %v", end.Outcome, end.Tools)
			}
			if started := seen[agent.Started](w); c.outcome == agent.Completed && (len(started) != 1 || started[0].Replaced != c.used) {
				t.Errorf("Started = %+v", started)
			}
		})
	}
}

// TestForget lets go of an idle conversation, and of no other.
func TestForget(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", func(c *config) { c.Journal = &notebook{} })
	submit(t, e, "j1", "one", "first").wait(t)
	if err := e.Forget(t.Context(), "never-seen"); err != nil {
		t.Error(err)
	}
	w := submit(t, e, "j2", "one", "!hang")
	eventually(t, "the turn to begin", func() bool { return len(seen[agent.Started](w)) == 1 })
	if err := e.Forget(t.Context(), "one"); !errors.Is(err, executor.ErrBusy) {
		t.Errorf("in use: %v", err)
	}
	if err := e.Cancel(t.Context(), "j2"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the conversation to be idle", func() bool { return e.Forget(t.Context(), "one") == nil })
	if n := e.Health().Threads; n != 0 {
		t.Errorf("%d threads are loaded", n)
	}
	wantEnd(t, submit(t, e, "j3", "one", "again").wait(t), agent.Completed, "")
}

// TestThreadsOfWaitingMessages: any number of conversations with messages that wait have no more
// threads loaded than the bound, and none beyond it stays.
func TestThreadsOfWaitingMessages(t *testing.T) {
	t.Parallel()
	const most, turns = 3, 2
	e := onFake(t, "turn echo", func(c *config) { c.MaxThreads, c.MaxTurns = most, turns })
	var jobs []*witness
	for i := range 2 {
		for context := range 12 {
			jobs = append(jobs, submit(t, e, fmt.Sprintf("j%d-%d", context, i), fmt.Sprint(context), "hello"))
		}
	}
	loaded := 0
	for _, w := range jobs {
		wantEnd(t, w.wait(t), agent.Completed, "")
		loaded = max(loaded, e.Health().Threads)
	}
	if loaded > most+turns {
		t.Errorf("%d threads were loaded", loaded)
	}
	eventually(t, "what is beyond the bound to be unloaded", func() bool { return e.Health().Threads <= most })
}

// TestThreadThatCannotBeOpened: the failure says what helps.
func TestThreadThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	e := onFake(t, "refuse thread/start failed to open: Permission denied (os error 13)", nil)
	end := submit(t, e, "j1", "one", "hello").wait(t)
	if end.Failure == nil || !strings.Contains(end.Failure.Message, "(os error 13)") || !strings.Contains(end.Failure.Message, "/new") {
		t.Errorf("the message ends with %+v (%v)", end, end.Failure)
	}
}
