package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// again kills the program as the platform does and starts it on what it left.
func (p *program) again() {
	p.t.Helper()
	p.Kill()
	p.Program = p.Restart()
}

// hangFirst makes the model hang at its first request, and obey from then on.
func hangFirst(p *program) {
	var asked atomic.Bool
	p.Model.SetScript(func(t *fakemodel.Turn) {
		if asked.CompareAndSwap(false, true) {
			t.Hang()
			return
		}
		fakemodel.Keywords(t)
	})
}

func (p *program) modelAsked(times int) {
	p.t.Helper()
	progtest.WaitFor(p.t, fmt.Sprintf("the model to be asked %d times", times), func() bool { return len(p.Model.Requests()) >= times })
}

// TestQueueSurvivesKill runs what waited in the order in which it came.
func TestQueueSurvivesKill(t *testing.T) {
	t.Parallel()
	p := start(t)
	hangFirst(p)
	var ids []any
	for i := range 5 {
		ids = append(ids, p.begin(fmt.Sprintf("m%d", i), "one", fmt.Sprintf("say answer %d", i))["id"])
	}
	p.modelAsked(1)
	p.again()
	for i, id := range ids {
		if task := p.ended(id); state(task) != "TASK_STATE_COMPLETED" || text(task) != fmt.Sprintf("answer %d", i) {
			t.Errorf("task %d = %v with %q", i, task["status"], text(task))
		}
	}
	requests := p.Model.Requests()
	if len(requests) != len(ids)+1 {
		t.Fatalf("the model was asked %d times, want once for each message and once more for the first", len(requests))
	}
	for i, request := range requests[1:] {
		if got := request.LastUserText(); got != fmt.Sprintf("say answer %d", i) {
			t.Errorf("turn %d was given %q: the order was lost", i, got)
		}
	}
}

// TestSameMessageAfterKill cuts a turn of words. The message is the same task
// ever after, whoever repeats it, in whatever version.
func TestSameMessageAfterKill(t *testing.T) {
	t.Parallel()
	p := start(t)
	hangFirst(p)
	id := p.begin("m1", "one", "say once")["id"]
	p.modelAsked(1)
	p.again()
	old := object{"message": object{
		"kind": "message", "messageId": "m1", "contextId": "one", "role": "user", "parts": []object{{"kind": "text", "text": "say once"}},
	}, "configuration": object{"blocking": true}}
	var callers sync.WaitGroup
	for i := range 6 {
		callers.Go(func() {
			var task object
			if i%2 == 0 {
				task = p.send("m1", "one", "say once")
			} else {
				task, _ = p.call("message/send", old)["result"].(object)
			}
			if task["id"] != id || text(task) != "once" {
				t.Errorf("caller %d was given task %v with %q, want %v", i, task["id"], text(task), id)
			}
		})
	}
	callers.Wait()
	if n := len(p.Model.Requests()); n != 2 {
		t.Errorf("the model was asked %d times, want 2", n)
	}
	p.again()
	if task := p.send("m1", "one", "say once"); task["id"] != id || text(task) != "once" || len(p.Model.Requests()) != 2 {
		t.Errorf("after another restart the task is %v with %q", task["id"], text(task))
	}
	answer := p.call("SendMessage", object{"message": message("m1", "one", "say something else")})
	if code := at(answer, "error", "code"); code != -32602.0 {
		t.Errorf("other words under the same id: %v, want -32602", answer)
	}
}

// TestCallerOfTheNextProcess waits, in the next process, for a turn of the one
// before it.
func TestCallerOfTheNextProcess(t *testing.T) {
	t.Parallel()
	p := start(t)
	hangFirst(p)
	cut := make(chan error, 1)
	go func() {
		_, err := p.tryCall(t.Context(), "SendMessage", object{"message": message("m1", "one", "say at last")})
		cut <- err
	}()
	p.modelAsked(1)
	p.Kill()
	if err := <-cut; err == nil {
		t.Error("the caller of the killed process was given an answer")
	}
	p.Program = p.Restart()
	if task := p.send("m1", "one", "say at last"); state(task) != "TASK_STATE_COMPLETED" || text(task) != "at last" {
		t.Errorf("task = %v with %q", task["status"], text(task))
	}
}

// TestStopParksWords ends on SIGTERM and leaves a turn of words to the next process.
func TestStopParksWords(t *testing.T) {
	t.Parallel()
	p := start(t)
	hangFirst(p)
	id := p.begin("m1", "one", "say later")["id"]
	waiting := p.begin("m2", "one", "say last")["id"]
	p.modelAsked(1)
	p.Signal(syscall.SIGTERM)
	<-p.Exited()
	p.Program = p.Restart()
	for id, want := range map[any]string{id: "later", waiting: "last"} {
		if task := p.ended(id); state(task) != "TASK_STATE_COMPLETED" || text(task) != want {
			t.Errorf("task = %v with %q, want %q", task["status"], text(task), want)
		}
	}
}

// TestSecondProcessIsRefused names the first.
func TestSecondProcessIsRefused(t *testing.T) {
	t.Parallel()
	p := start(t)
	log, code := p.Rival()
	if code == 0 || !strings.Contains(log, fmt.Sprint(p.Pid())) || !strings.Contains(log, p.State) {
		t.Errorf("the second process ended with %d:\n%s", code, log)
	}
	if task := p.send("m1", "one", "say unharmed"); text(task) != "unharmed" {
		t.Errorf("the first process answers %q", text(task))
	}
}

// TestLostThreadIsReplaced goes on when codex has lost a conversation, and says so.
func TestLostThreadIsReplaced(t *testing.T) {
	t.Parallel()
	p := start(t)
	first := p.send("m1", "one", "remember red-9")
	p.Kill()
	if err := os.RemoveAll(filepath.Join(p.Home, "sessions")); err != nil {
		t.Fatal(err)
	}
	p.Program = p.Restart()
	s := p.stream(t.Context(), "SendStreamingMessage", object{"message": message("m2", "one", "recall")})
	var id any
	told := false
	for event := s.next(); event != nil; event = s.next() {
		if found := at(event, "task", "id"); found != nil {
			id = found
		}
		notice, _ := at(event, "statusUpdate", "status", "message", "parts", 0, "data", "text").(string)
		told = told || strings.Contains(notice, "history of this conversation was lost")
	}
	task := p.get(id)
	if state(task) != "TASK_STATE_COMPLETED" || text(task) != "nothing to recall" {
		t.Errorf("task = %v with %q", task["status"], text(task))
	}
	if !told {
		t.Error("the stream has no notice of the lost history")
	}
	if before, now := at(first, "metadata", "threadId"), at(task, "metadata", "threadId"); before == now {
		t.Errorf("the thread is still %v", now)
	}
	requests := p.Model.Requests()
	if body := string(requests[len(requests)-1].Body); !strings.Contains(body, "could not be loaded and is lost") {
		t.Error("the model was not told of the lost history")
	}
}
