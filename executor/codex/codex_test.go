package codex_test

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/rollout"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// The tests in this file run on the real codex.

func TestTurnAndMemory(t *testing.T) {
	t.Parallel()
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), nil)
	first := submit(t, e, "j1", "one", "remember blue-42")
	end := first.wait(t)
	if end.Outcome != agent.Completed || said(end) == "" {
		t.Fatalf("end = %+v, want it completed with a text", end)
	}
	if got := first.streamed(); got != said(end) {
		t.Errorf("streamed %q, but the final message is %q", got, said(end))
	}
	if end.Usage.TotalTokens == 0 {
		t.Error("the turn's token usage is 0")
	}
	if started := seen[agent.Started](first); len(started) != 1 || started[0].ThreadID == "" || started[0].TurnID == "" {
		t.Errorf("Started = %+v, want one with its ids", started)
	}
	if got := said(submit(t, e, "j2", "one", "recall").wait(t)); !strings.Contains(got, "blue-42") {
		t.Errorf("the second turn recalls %q", got)
	}
}

func TestCancelHangingModel(t *testing.T) {
	t.Parallel()
	model := modeltest.Start(t, fakemodel.Keywords)
	e := onCodex(t, model, nil)
	w := submit(t, e, "j1", "one", "hang")
	eventually(t, "the model to be asked", func() bool { return len(model.Requests()) == 1 })
	if err := e.Cancel(t.Context(), "j1"); err != nil {
		t.Fatal(err)
	}
	if end := w.wait(t); end.Outcome != agent.Canceled {
		t.Errorf("end = %+v, want it canceled", end)
	}
	select {
	case <-model.Dropped():
	case <-time.After(patience):
		t.Error("codex still holds its connection to the model")
	}
	if err := e.Cancel(t.Context(), "j1"); err != nil {
		t.Errorf("canceling what has ended: %v, want nothing", err)
	}
}

// TestCancelAtOnce cancels turns that have hardly begun: codex loses an
// interrupt that follows turn/start too closely.
func TestCancelAtOnce(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), nil)
	for i := range 20 {
		id := fmt.Sprintf("j%d", i)
		w := submit(t, e, id, "one", "hang")
		eventually(t, "the turn to start", func() bool { return len(seen[agent.Started](w)) == 1 })
		if err := e.Cancel(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if end := w.wait(t); end.Outcome != agent.Canceled {
			t.Errorf("end = %+v, want it canceled", end)
		}
	}
	if restarts := e.Health().Child.Restarts; restarts != 0 {
		t.Errorf("codex was restarted %d times", restarts)
	}
}

func TestCancelEndsCommands(t *testing.T) {
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), nil)
	w := submit(t, e, "j1", "one", "run sleep 62.25")
	eventually(t, "the command to start", func() bool { return len(seen[agent.ItemStarted](w)) > 0 && commandRuns(w) })
	pid := e.Health().Child.Pid
	began := time.Now()
	if err := e.Cancel(t.Context(), "j1"); err != nil {
		t.Fatal(err)
	}
	if end := w.wait(t); end.Outcome != agent.Canceled {
		t.Errorf("end = %+v, want it canceled", end)
	}
	t.Logf("canceled in %s", time.Since(began))
	if now := e.Health().Child.Pid; now != pid {
		t.Errorf("codex was restarted (%d, then %d) to end a sleep", pid, now)
	}
	if got := said(submit(t, e, "j2", "one", "say next").wait(t)); !strings.Contains(got, "next") {
		t.Errorf("the next turn says %q", got)
	}
}

// TestLeftoversAreKilled cancels a turn whose command has put another process
// out of codex's reach, and kills codex under one.
func TestLeftoversAreKilled(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), nil)
	for i, end := range []func(id string){
		func(id string) {
			if err := e.Cancel(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		},
		func(string) { _ = syscall.Kill(e.Health().Child.Pid, syscall.SIGKILL) },
	} {
		id := fmt.Sprintf("j%d", i)
		sleep := fmt.Sprintf("sleep 63.%d", i)
		w := submit(t, e, id, "one", "run sh -c 'setsid nohup "+sleep+" >/dev/null 2>&1 & "+sleep+"; true'")
		eventually(t, "both processes to run", func() bool { return countProcesses(sleep) == 2 })
		end(id)
		w.wait(t)
		if n := countProcesses(sleep); n != 0 {
			t.Errorf("the turn has ended, but %d of its processes run", n)
		}
	}
}

// TestCancelSparesEarlierCommands cancels a turn on a thread on which an earlier
// turn has left a server running.
func TestCancelSparesEarlierCommands(t *testing.T) {
	t.Parallel()
	model := modeltest.Start(t, fakemodel.Keywords)
	e := onCodex(t, model, nil)
	const server = "sleep 64.25"
	if end := submit(t, e, "j1", "one", "background "+server).wait(t); end.Outcome != agent.Completed {
		t.Fatalf("end = %+v", end)
	}
	w := submit(t, e, "j2", "one", "hang")
	eventually(t, "the turn to start", func() bool { return len(seen[agent.Started](w)) == 1 })
	if err := e.Cancel(t.Context(), "j2"); err != nil {
		t.Fatal(err)
	}
	if n := countProcesses(server); n != 1 {
		t.Errorf("%d processes of the earlier turn run, want it spared", n)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := countProcesses(server); n != 0 {
		t.Errorf("%d processes outlived the executor", n)
	}
}

func countProcesses(command string) int {
	out, _ := exec.Command("pgrep", "-fxc", command).Output()
	n, _ := strconv.Atoi(strings.TrimSpace(string(out)))
	return n
}

func commandRuns(w *witness) bool {
	for _, started := range seen[agent.ItemStarted](w) {
		if started.Item.Kind == agent.KindCommand {
			return true
		}
	}
	return false
}

func TestChildKilledBetweenTurns(t *testing.T) {
	t.Parallel()
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), nil)
	submit(t, e, "j1", "one", "remember red-1").wait(t)
	first := e.Health().Child.Pid
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// No wait: the message may find the child dead, dying or not yet known to be.
	end := submit(t, e, "j2", "one", "recall").wait(t)
	if got := said(end); !strings.Contains(got, "red-1") {
		t.Errorf("after the restart the thread recalls %q (%+v)", got, end.Failure)
	}
	if now := e.Health().Child.Pid; now == first {
		t.Error("the child was not restarted")
	}
}

func TestThreadsAreUnloadedAndResumed(t *testing.T) {
	t.Parallel()
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), func(c *config) { c.MaxThreads = 2 })
	for i := range 4 {
		submit(t, e, fmt.Sprintf("a%d", i), fmt.Sprintf("c%d", i), fmt.Sprintf("remember word-%d", i)).wait(t)
	}
	if n := e.Health().Threads; n > 2 {
		t.Errorf("%d threads are loaded, want at most 2", n)
	}
	for i := range 4 {
		w := submit(t, e, fmt.Sprintf("b%d", i), fmt.Sprintf("c%d", i), "recall")
		if got := said(w.wait(t)); !strings.Contains(got, fmt.Sprintf("word-%d", i)) {
			t.Errorf("thread %d recalls %q after it was unloaded", i, got)
		}
		if w.streamed() == "" {
			t.Errorf("thread %d sent no notifications after it was unloaded", i)
		}
	}
}

// TestDelete has a codex that runs delete the thread of a conversation that is gone.
func TestDelete(t *testing.T) {
	t.Parallel()
	var home string
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), func(c *config) { home = homeOf(*c) })
	w := submit(t, e, "j1", "one", "say hello")
	w.wait(t)
	thread := seen[agent.Started](w)[0].ThreadID
	if there, err := (rollout.Home{Dir: home}).Has(thread); !there || err != nil {
		t.Fatalf("%s has no file: %v", thread, err)
	}
	if err := e.Forget(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := e.Delete(t.Context(), thread); err != nil {
			t.Error(err)
		}
	}
	if there, err := (rollout.Home{Dir: home}).Has(thread); there || err != nil {
		t.Errorf("%s has a file still; %v", thread, err)
	}
}

func TestModelFailures(t *testing.T) {
	t.Parallel()
	cases := []struct {
		text string
		kind agent.FailureKind
	}{{"fail 400", agent.FailModel}, {"fail 500", agent.FailModel}}
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), nil)
	for i, c := range cases {
		end := submit(t, e, fmt.Sprintf("j%d", i), "one", c.text).wait(t)
		if end.Outcome != agent.Failed || end.Failure == nil || end.Failure.Kind != c.kind {
			t.Errorf("%s: end = %+v (%+v), want a failure of kind %s", c.text, end, end.Failure, c.kind)
		}
	}
}

// TestRoomOfCommandsLeftRunning: the user's conversation in which a command still runs keeps its
// thread, and it; those of other agents, who have any number of them, do not.
func TestRoomOfCommandsLeftRunning(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), func(c *config) { c.MaxThreads = 2 })
	leave := func(id string, peer bool) {
		job := executor.Job{ID: id, Context: id, Input: []agent.Input{agent.Text("background exec sleep 1000." + id)}, Peer: peer}
		wantEnd(t, submitJob(t, e, job).wait(t), agent.Completed, "")
	}
	runs := func(id string) bool { return progtest.Find(os.Getpid(), "sleep 1000."+id) != 0 }
	for _, id := range []string{"1", "2", "3"} {
		leave(id, true)
	}
	eventually(t, "the command of the conversation of another agent that was used longest ago to end", func() bool { return !runs("1") })
	if !runs("2") || !runs("3") || e.Health().Threads != 2 {
		t.Errorf("of other agents: %t, %t, %d threads", runs("2"), runs("3"), e.Health().Threads)
	}
	for _, id := range []string{"4", "5", "6"} {
		leave(id, false)
	}
	eventually(t, "all of other agents' to end", func() bool { return !runs("2") && !runs("3") })
	if !runs("4") || !runs("5") || !runs("6") || e.Health().Threads != 3 {
		t.Errorf("of the user: %t, %t, %t, %d threads", runs("4"), runs("5"), runs("6"), e.Health().Threads)
	}
}
