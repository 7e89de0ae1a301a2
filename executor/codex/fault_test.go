package codex_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakecodex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// The tests in this file run on an app-server that misbehaves as it is told.

func onFake(t *testing.T, script string, change func(*config)) *rig {
	t.Helper()
	if !strings.HasPrefix(script, "state ") {
		script = "state " + t.TempDir() + "; " + script
	}
	bin, env := fakecodex.Command(script)
	cfg := config{driverConfig: driverConfig{Child: codex.Process{Bin: bin, Env: env}, Grace: 300 * time.Millisecond}}
	if change != nil {
		change(&cfg)
	}
	return running(t, cfg)
}

func wantEnd(t *testing.T, end agent.Ended, outcome agent.Outcome, kind agent.FailureKind) {
	t.Helper()
	got := agent.FailureKind("")
	if end.Failure != nil {
		got = end.Failure.Kind
	}
	if end.Outcome != outcome || got != kind {
		t.Errorf("end = %s/%s (%v), want %s/%s", end.Outcome, got, end.Failure, outcome, kind)
	}
}

// wantAlive checks that the context still takes messages.
func wantAlive(t *testing.T, e *rig, context string) {
	t.Helper()
	end := submit(t, e, "alive-"+context, context, "still here").wait(t)
	if end.Outcome != agent.Completed || !strings.Contains(said(end), "still here") {
		t.Errorf("the next message ended %s saying %q (%v)", end.Outcome, said(end), end.Failure)
	}
}

func TestLostCompletionIsReadFromTheHistory(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", nil)
	end := submit(t, e, "j1", "one", "!lose-completed-idle").wait(t)
	wantEnd(t, end, agent.Completed, "")
	wantAlive(t, e, "one")
}

// TestLostIdleToo has nothing left but the idle timer, which looks before it ends.
func TestLostIdleToo(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	e := onFake(t, "", func(c *config) { c.IdleTimeout = 4 * time.Second })
	wantEnd(t, submit(t, e, "j1", "one", "!lose-completed").wait(t), agent.Completed, "")
	wantAlive(t, e, "one")
}

func TestIdleTimerEndsTheTurn(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	e := onFake(t, "", func(c *config) { c.IdleTimeout = 4 * time.Second })
	end := submit(t, e, "j1", "one", "!hang").wait(t)
	wantEnd(t, end, agent.Failed, agent.FailTimeout)
	if end.Failure.Timer != "idle" || !strings.Contains(end.Failure.Message, "CODEX_IDLE_TIMEOUT") {
		t.Errorf("failure = %+v, want the idle timer named", end.Failure)
	}
	wantAlive(t, e, "one")
}

// TestToolHasATimerOfItsOwn: a silent tool is told from a silent codex.
func TestToolHasATimerOfItsOwn(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", func(c *config) {
		c.IdleTimeout, c.ItemTimeout = time.Minute, time.Second
	})
	end := submit(t, e, "j1", "one", "!hang-terminal").wait(t)
	wantEnd(t, end, agent.Failed, agent.FailTimeout)
	if end.Failure.Timer != "item" {
		t.Errorf("timer = %q, want item", end.Failure.Timer)
	}
}

func TestTurnTimerEndsABusyTurn(t *testing.T) {
	t.Parallel()
	e := onFake(t, "turn slow-text 50", func(c *config) { c.TurnTimeout = 300 * time.Millisecond })
	end := submit(t, e, "j1", "one", strings.Repeat("word ", 200)).wait(t)
	wantEnd(t, end, agent.Failed, agent.FailTimeout)
	if end.Failure.Timer != "turn" {
		t.Errorf("timer = %q, want turn", end.Failure.Timer)
	}
}

// TestIgnoredInterruptRestarts climbs to the last rung of the ladder.
func TestIgnoredInterruptRestarts(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", nil)
	submit(t, e, "j0", "other", "before").wait(t)
	w := submit(t, e, "j1", "one", "!stubborn")
	eventually(t, "the turn to start", func() bool { return len(seen[agent.Started](w)) == 1 })
	pid := e.Health().Child.Pid
	if err := e.Cancel(t.Context(), "j1"); err != nil {
		t.Fatal(err)
	}
	wantEnd(t, w.wait(t), agent.Canceled, "")
	wantAlive(t, e, "one")
	wantAlive(t, e, "other")
	if e.Health().Child.Pid == pid {
		t.Error("codex ignored the interrupt and was not restarted")
	}
}

func TestCommandLeftByAnInterruptIsTerminated(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", nil)
	w := submit(t, e, "j1", "one", "!hang-terminal")
	eventually(t, "the command to start", func() bool { return commandRuns(w) })
	if err := e.Cancel(t.Context(), "j1"); err != nil {
		t.Fatal(err)
	}
	wantEnd(t, w.wait(t), agent.Canceled, "")
	wantAlive(t, e, "one")
}

// TestDeathBeforeTheMessageWasTaken runs it again: the history does not hold it.
func TestDeathBeforeTheMessageWasTaken(t *testing.T) {
	t.Parallel()
	e := onFake(t, "once; turn die-before 3", nil)
	end := submit(t, e, "j1", "one", "hello").wait(t)
	wantEnd(t, end, agent.Completed, "")
}

// TestDeafChildIsReplaced hands a message to a codex that no longer reads. The
// history shows that it was not taken, so it runs on the next child.
func TestDeafChildIsReplaced(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	e := onFake(t, "", func(c *config) { c.Patience = 1500 * time.Millisecond })
	wantEnd(t, submit(t, e, "j1", "one", "!deaf").wait(t), agent.Completed, "")
	pid := e.Health().Child.Pid
	wantAlive(t, e, "one")
	if e.Health().Child.Pid == pid {
		t.Error("the deaf codex is still there")
	}
}

// TestDeafBeforeTheThreadIsReplaced is deaf already when the thread is asked for.
func TestDeafBeforeTheThreadIsReplaced(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	e := onFake(t, "once; no-answer thread/start; no-answer thread/loaded/list", func(c *config) { c.Patience = 5 * time.Second })
	wantEnd(t, submit(t, e, "j1", "one", "hello").wait(t), agent.Completed, "")
	if restarts := e.Health().Child.Restarts; restarts != 1 {
		t.Errorf("%d restarts, want one", restarts)
	}
}

// TestSlowThreadIsWaitedFor answers other calls meanwhile, as codex does while
// its MCP servers start.
func TestSlowThreadIsWaitedFor(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	e := onFake(t, "slow thread/start 12000", func(c *config) { c.Patience = 5 * time.Second })
	wantEnd(t, submit(t, e, "j1", "one", "hello").wait(t), agent.Completed, "")
	if restarts := e.Health().Child.Restarts; restarts != 0 {
		t.Errorf("%d restarts, want none", restarts)
	}
}

// TestMessageCutsTheBackoff lets starts fail until the backoff is long.
func TestMessageCutsTheBackoff(t *testing.T) {
	e := onFake(t, "exit 7", nil)
	for i := range 3 {
		began := time.Now()
		end := submit(t, e, fmt.Sprintf("j%d", i), "one", "hello").wait(t)
		wantEnd(t, end, agent.Failed, agent.FailUnreachable)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("message %d learned after %s that codex does not start", i, took)
		}
	}
}

func TestChildThatDoesNotStart(t *testing.T) {
	t.Parallel()
	e := onFake(t, "exit 7", nil)
	end := submit(t, e, "j1", "one", "hello").wait(t)
	wantEnd(t, end, agent.Failed, agent.FailUnreachable)
	health := e.Health().Child
	if health.State == "ready" || health.Error == "" {
		t.Errorf("health = %+v, want the failed start", health)
	}
}

func TestMissingBinaryIsNamed(t *testing.T) {
	t.Parallel()
	e := running(t, config{driverConfig: nowhere("/no/such/codex")})
	end := submit(t, e, "j1", "one", "hello").wait(t)
	wantEnd(t, end, agent.Failed, agent.FailUnreachable)
	if !strings.Contains(end.Failure.Message, "/no/such/codex") {
		t.Errorf("message = %q, want it to name the binary", end.Failure.Message)
	}
}

// TestCloseIsBounded closes on a codex that ignores everything.
func TestCloseIsBounded(t *testing.T) {
	t.Parallel()
	e := onFake(t, "ignore-end; ignore-term", func(c *config) { c.Grace = time.Hour })
	turn := submit(t, e, "j1", "one", "!stubborn")
	eventually(t, "the turn to start", func() bool { return len(seen[agent.Started](turn)) == 1 })
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := e.Close(ctx); err == nil {
		t.Error("Close = nil, want an error that says that codex was killed")
	}
	wantEnd(t, turn.wait(t), agent.Interrupted, agent.FailShutdown)
}

func TestSubagentStaysOut(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", nil)
	w := submit(t, e, "j1", "one", "!subagent")
	end := w.wait(t)
	wantEnd(t, end, agent.Completed, "")
	if w.streamed() != said(end) {
		t.Errorf("streamed %q, said %q: a subagent's words got in", w.streamed(), said(end))
	}
}

// TestEveryRequestIsAnswered has codex ask each of its questions where nobody is
// there to answer; the turn ends only when the answer comes.
func TestEveryRequestIsAnswered(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"item/commandExecution/requestApproval": `"decline"`,
		"item/fileChange/requestApproval":       `"decline"`,
		"item/permissions/requestApproval":      `"permissions":{}`,
		"item/tool/requestUserInput":            `"answers":{}`,
		"mcpServer/elicitation/request":         `"action":"decline"`,
		"item/tool/call":                        `"success":false`,
		"currentTime/read":                      `"currentTimeAt"`,
		"account/chatgptAuthTokens/refresh":     `-32601`,
		"attestation/generate":                  `-32601`,
		"applyPatchApproval":                    `-32601`,
		"execCommandApproval":                   `-32601`,
	}
	e := onFake(t, "", unattended)
	for method, answer := range want {
		end := submit(t, e, method, "one", "!ask "+method).wait(t)
		if got := strings.ReplaceAll(said(end), " ", ""); !strings.Contains(got, answer) {
			t.Errorf("%s was answered %q, want %s in it", method, got, answer)
		}
	}
}

func unattended(c *config) { c.Thread.ApprovalPolicy = agent.Never }
