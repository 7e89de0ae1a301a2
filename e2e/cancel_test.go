package e2e

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestCancelReachesTheModel cancels a turn whose model says nothing.
func TestCancelReachesTheModel(t *testing.T) {
	p := start(t)
	id := p.begin("m1", "one", "hang")["id"]
	progtest.WaitFor(t, "the model to be asked", func() bool { return len(p.Model.Requests()) == 1 })
	codex := p.Child()
	task, _ := p.call("CancelTask", object{"id": id})["result"].(object)
	if state(task) != "TASK_STATE_CANCELED" {
		t.Fatalf("CancelTask = %v, want the canceled task", task)
	}
	select {
	case <-p.Model.Dropped():
	case <-time.After(progtest.Patience):
		t.Error("codex still holds its connection to the model")
	}
	if task := p.send("m2", "one", "say next"); !strings.Contains(text(task), "next") {
		t.Errorf("the next turn answered %q", text(task))
	}
	if p.Child() != codex {
		t.Error("codex was killed: it did not obey")
	}
}

// TestCancelEndsTheCommand cancels a turn while a command of it runs.
func TestCancelEndsTheCommand(t *testing.T) {
	t.Parallel()
	p := start(t)
	id := p.begin("m1", "one", "run sleep 61.25")["id"]
	var pid int
	progtest.WaitFor(t, "the command to run", func() bool {
		pid = progtest.Find(p.Child(), "sleep 61.25")
		return pid != 0
	})
	task, _ := p.call("CancelTask", object{"id": id})["result"].(object)
	if state(task) != "TASK_STATE_CANCELED" {
		t.Fatalf("CancelTask = %v, want the canceled task", task)
	}
	if progtest.Alive(pid) {
		t.Errorf("the task is canceled, but its command %d still runs", pid)
	}
}

func TestCancelWhileWaiting(t *testing.T) {
	t.Parallel()
	p := start(t)
	first := p.begin("m1", "one", "hang")["id"]
	second := p.begin("m2", "one", "say never")["id"]
	task, _ := p.call("CancelTask", object{"id": second})["result"].(object)
	if state(task) != "TASK_STATE_CANCELED" {
		t.Errorf("the waiting task = %v, want it canceled at once", task)
	}
	p.call("CancelTask", object{"id": first})
	for _, request := range p.Model.Requests() {
		if strings.Contains(strings.Join(request.UserTexts(), " "), "never") {
			t.Error("the model saw a message that was canceled while it waited")
		}
	}
}

// TestChildKilledBetweenTurns loses no history.
func TestChildKilledBetweenTurns(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.send("m1", "one", "remember blue-42")
	killChild(t, p)
	if got := text(p.send("m2", "one", "recall")); !strings.Contains(got, "blue-42") {
		t.Errorf("after the restart the thread recalls %q, want what it was told before", got)
	}
}

// TestChildKilledInMidTurn runs a turn of words again, with its caller attached.
func TestChildKilledInMidTurn(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.send("m0", "one", "remember green-7")
	hangFirst(p)
	answer := make(chan object, 1)
	go func() {
		got, err := p.tryCall(t.Context(), "SendMessage", object{"message": message("m1", "one", "say at last")})
		if err != nil {
			t.Error(err)
		}
		answer <- got
	}()
	p.modelAsked(2)
	killChild(t, p)
	task := p.task(<-answer)
	if state(task) != "TASK_STATE_COMPLETED" || text(task) != "at last" || at(task, "metadata", "attempt") != 2.0 {
		t.Errorf("task = %v with %q, want the answer of a second attempt", task, text(task))
	}
	if got := text(p.send("m2", "one", "recall")); !strings.Contains(got, "green-7") {
		t.Errorf("the next turn recalls %q, want the history", got)
	}
}

// TestChildKilledInACommand frees the caller soon and honestly.
func TestChildKilledInACommand(t *testing.T) {
	p := start(t)
	id := p.begin("m1", "one", "run sleep 61.75")["id"]
	progtest.WaitFor(t, "the command to run", func() bool { return progtest.Find(p.Child(), "sleep 61.75") != 0 })
	killChild(t, p)
	began := time.Now()
	task := p.ended(id)
	if took := time.Since(began); took > 40*time.Second { // the command would take a minute
		t.Errorf("the caller was freed after %s, want at most 2 s (or forty, on a busy machine)", took)
	}
	words, _ := at(task, "status", "message", "parts", 0, "text").(string)
	if state(task) != "TASK_STATE_FAILED" || at(task, "metadata", "interrupted") != true || !strings.Contains(words, "stopped in the middle") {
		t.Errorf("task = %v, want a failure that says that codex stopped in mid-turn", task["status"])
	}
}

// TestStopWithOpenStream ends within its grace although a client holds a stream,
// which is told that its task goes on another time.
func TestStopWithOpenStream(t *testing.T) {
	p := start(t)
	s := p.stream(t.Context(), "SendStreamingMessage", object{"message": message("m1", "one", "hang")})
	if s.next() == nil {
		t.Fatal("no first event")
	}
	progtest.WaitFor(t, "the model to be asked", func() bool { return len(p.Model.Requests()) == 1 })
	began := time.Now()
	p.Signal(syscall.SIGTERM)
	var last object
	for event := s.next(); event != nil; event = s.next() {
		last = event
	}
	if words, _ := at(last, "error", "message").(string); !strings.Contains(words, "the runtime is stopping") {
		t.Errorf("the stream ended with %v, want an error that says why", last)
	}
	<-p.Exited()
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("stopping took %s, want at most 10 s (or twenty, on a busy machine)", took)
	}
}

func killChild(t *testing.T, p *program) {
	t.Helper()
	pid := p.Child()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	progtest.WaitFor(t, "the child to be dead", func() bool { return !progtest.Alive(pid) })
}
