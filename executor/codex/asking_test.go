package codex_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// The tests in this file ask what the real codex does not, or when it would not.

const approval = "item/commandExecution/requestApproval"

// outlast waits for longer than every timer of a job, which must not end meanwhile.
func outlast(t *testing.T, w *witness, d time.Duration) {
	t.Helper()
	select {
	case end := <-w.ended:
		t.Fatalf("the job ended while its question was open: %+v (%v)", end, end.Failure)
	case <-time.After(d):
	}
}

// TestTimersRest while a question is open, and go on after it.
func TestTimersRest(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", func(c *config) { c.IdleTimeout = 3 * time.Second })
	w := submit(t, e, "j1", "one", "!ask-hang "+approval)
	q := w.asked(t, 1)
	outlast(t, w, 5*time.Second)
	mustReply(t, e, "j1", q, "yes")
	end := w.wait(t)
	wantEnd(t, end, agent.Failed, agent.FailTimeout)
	if end.Failure != nil && end.Failure.Timer != "idle" {
		t.Errorf("the %s timer ended it", end.Failure.Timer)
	}
	wantAlive(t, e, "one")
}

// TestQuestionIsWithdrawn by codex, which then needs no answer.
func TestQuestionIsWithdrawn(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", nil)
	w := submit(t, e, "j1", "one", "!ask-withdraw "+approval+" 2000")
	q := w.asked(t, 1)
	wantEnd(t, w.wait(t), agent.Completed, "")
	if told := seen[agent.Answered](w); len(told) != 1 || told[0].ID != q.ID {
		t.Errorf("told %+v, want that %s is open no more", told, q.ID)
	}
	if err := reply(t, e, "j1", q, "yes"); !errors.Is(err, executor.ErrNotAsked) {
		t.Errorf("an answer to it: %v", err)
	}
}

// TestCanceledQuestionIsAnswered: codex is told something even then.
func TestCanceledQuestionIsAnswered(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", nil)
	w := submit(t, e, "j1", "one", "!ask "+approval)
	w.asked(t, 1)
	if err := e.Cancel(t.Context(), "j1"); err != nil {
		t.Fatal(err)
	}
	wantEnd(t, w.wait(t), agent.Canceled, "")
	wantAlive(t, e, "one")
}

// TestStopKeepsTheQuestion says nothing of it: the next process asks it.
func TestStopKeepsTheQuestion(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", nil)
	w := submit(t, e, "j1", "one", "!ask "+approval)
	w.asked(t, 1)
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantEnd(t, w.wait(t), agent.Interrupted, agent.FailShutdown)
	if told := seen[agent.Answered](w); len(told) != 0 {
		t.Errorf("told %+v", told)
	}
}

// TestRefusedQuestionIsWithdrawn before the job waits for a login.
func TestRefusedQuestionIsWithdrawn(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", func(c *config) { c.LoginProbe = time.Millisecond })
	w := submit(t, e, "j1", "one", "!ask-fail "+approval+" unauthorized 2000")
	first, second := w.asked(t, 1), w.asked(t, 2)
	if told := seen[agent.Answered](w); len(told) == 0 || told[0].ID != first.ID || first.ID == second.ID {
		t.Errorf("asked as %s and %s, told %+v", first.ID, second.ID, told)
	}
	if err := e.Cancel(t.Context(), "j1"); err != nil {
		t.Fatal(err)
	}
}

// TestRerunAsksAnew where codex died over a question before any tool had started.
func TestRerunAsksAnew(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", nil)
	w := submit(t, e, "j1", "one", "!ask "+approval)
	first := w.asked(t, 1)
	_ = syscall.Kill(e.Health().Child.Pid, syscall.SIGKILL)
	second := w.asked(t, 2)
	if told := seen[agent.Answered](w); first.ID == second.ID || len(told) != 1 || told[0].ID != first.ID {
		t.Errorf("asked as %s and %s, told %+v", first.ID, second.ID, told)
	}
	if err := reply(t, e, "j1", first, "yes"); !errors.Is(err, executor.ErrNotAsked) {
		t.Errorf("an answer to the first: %v", err)
	}
	mustReply(t, e, "j1", second, "yes")
	end := w.wait(t)
	wantEnd(t, end, agent.Completed, "")
	if !strings.Contains(said(end), "accept") {
		t.Errorf("codex was told %q", said(end))
	}
}

// TestUnreadableQuestionIsDeclined at once, and not left open.
func TestUnreadableQuestionIsDeclined(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", nil)
	for method, answer := range map[string]string{
		"item/permissions/requestApproval": `"permissions":{}`,
		"item/tool/requestUserInput":       `"answers":{}`,
		"mcpServer/elicitation/request":    `"decline"`,
	} {
		w := submit(t, e, method, "one", "!ask "+method)
		end := w.wait(t)
		if !strings.Contains(said(end), answer) || len(seen[agent.Question](w)) != 0 {
			t.Errorf("%s was answered %q, and asked %d times", method, said(end), len(seen[agent.Question](w)))
		}
	}
}

// TestUnseenIsDeclined at once: a change that codex asks about and has not begun.
func TestUnseenIsDeclined(t *testing.T) {
	t.Parallel()
	w := submit(t, onFake(t, "", nil), "j1", "one", "!ask item/fileChange/requestApproval")
	end := w.wait(t)
	notices := seen[agent.Notice](w)
	if !strings.Contains(said(end), `"decline"`) || len(seen[agent.Question](w)) != 0 || len(seen[agent.Answered](w)) != 0 {
		t.Errorf("answered %q, asked %+v", said(end), seen[agent.Question](w))
	}
	if len(notices) != 1 || !strings.Contains(notices[0].Text, "change files, without saying which") {
		t.Errorf("told %+v", notices)
	}
}

// TestPageIsTheUsersToOpen: another agent is not shown which, and codex goes on without it.
func TestPageIsTheUsersToOpen(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", nil)
	const ask = `!ask mcpServer/elicitation/request {"mode":"url","serverName":"s","message":"Authorize","url":"https://example.com/x"}`
	w := submitJob(t, e, executor.Job{ID: "j1", Context: "peer:bob", Input: []agent.Input{agent.Text(ask)}, Peer: true})
	end := w.wait(t)
	notices := seen[agent.Notice](w)
	if !strings.Contains(said(end), `"decline"`) || len(seen[agent.Question](w)) != 0 || len(notices) != 1 ||
		!strings.Contains(notices[0].Text, "for the user of this agent") || strings.Contains(notices[0].Text, "example.com") {
		t.Errorf("answered %q, asked %+v, told %+v", said(end), seen[agent.Question](w), notices)
	}
	w = submit(t, e, "j2", "one", ask)
	if asked := w.asked(t, 1); asked.Data["url"] != "https://example.com/x" {
		t.Errorf("the user is asked %+v", asked)
	}
	if err := e.Cancel(t.Context(), "j2"); err != nil {
		t.Fatal(err)
	}
}

// TestEverythingAllowed says yes where codex asks all the same.
func TestEverythingAllowed(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", func(c *config) {
		unattended(c)
		c.Thread.Sandbox = "danger-full-access"
	})
	if end := submit(t, e, "j1", "one", "!ask "+approval).wait(t); !strings.Contains(said(end), `"accept"`) {
		t.Errorf("codex was told %q", said(end))
	}
}
