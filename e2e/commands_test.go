package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// wantWords checks a task that was answered by the runtime itself.
func wantWords(t *testing.T, task object, words ...string) {
	t.Helper()
	for _, want := range words {
		if state(task) != "TASK_STATE_COMPLETED" || !strings.Contains(text(task), want) {
			t.Errorf("task = %v with %q, want it to say %q", task["status"], text(task), want)
		}
	}
}

func TestStop(t *testing.T) {
	t.Parallel()
	p := start(t)
	running := p.begin("m1", "one", "run sleep 26")["id"]
	p.modelAsked(1)
	p.commandRuns("sleep 26")
	waiting := p.begin("m2", "one", "say never")["id"]
	elsewhere := p.begin("m3", "two", "wait 300ms\nsay elsewhere")["id"]
	stop := p.send("m4", "one", " /stop\n")
	wantWords(t, stop, "2 tasks were canceled")
	for _, id := range []any{running, waiting} {
		if task := p.get(id); state(task) != "TASK_STATE_CANCELED" {
			t.Errorf("task = %v", task["status"])
		}
	}
	if progtest.Find(p.Child(), "sleep 26") != 0 {
		t.Error("the command runs on")
	}
	if task := p.ended(elsewhere); text(task) != "elsewhere" {
		t.Errorf("another context says %q", text(task))
	}
	next := p.begin("m5", "one", "hang")["id"]
	p.modelAsked(3)
	if again := p.send("m4", "one", " /stop\n"); again["id"] != stop["id"] || state(p.get(next)) == "TASK_STATE_CANCELED" {
		t.Errorf("the same /stop sent again is %v, and stopped what came since", again)
	}
	wantWords(t, p.send("m6", "one", "/stop"), "one task was canceled")
	wantWords(t, p.send("m7", "one", "/stop"), "Nothing was running")
	for _, request := range p.Model.Requests() {
		if strings.Contains(request.LastUserText(), "/stop") {
			t.Error("the model was given a command")
		}
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	p := start(t)
	first := p.send("m1", "one", "remember red-3")
	p.send("m2", "one", "background sleep 27")
	wantWords(t, p.send("m3", "one", "/new"), "begins a new conversation")
	next := p.send("m4", "one", "recall")
	if text(next) != "nothing to recall" || at(next, "metadata", "threadId") == at(first, "metadata", "threadId") {
		t.Errorf("the next message says %q on thread %v", text(next), at(next, "metadata", "threadId"))
	}
	if at(next, "metadata", "threadReplaced") != nil {
		t.Error("the thread is said to have been lost")
	}
	p.begin("m5", "one", "hang")
	p.modelAsked(5)
	wantWords(t, p.send("m6", "one", "/new"), "at work")
	wantWords(t, p.send("m7", "unknown", "/new"), "begins a new conversation")
}

func TestStatus(t *testing.T) {
	t.Parallel()
	p := start(t)
	wantWords(t, p.send("m1", "one", "/status"), "No turn is running", "Waiting: 0", "Thread: none yet")
	p.send("m2", "one", "usage 700 77\nsay done")
	id := p.begin("m3", "one", "hang")["id"]
	p.begin("m4", "one", "say waits")
	p.modelAsked(2)
	task := p.send("m5", "one", "/status")
	thread := at(p.get(id), "metadata", "threadId")
	wantWords(t, task, "A turn is running since", fmt.Sprint(id), "Waiting: 1", fmt.Sprint("Thread: ", thread), "777")
	if n := len(p.Model.Requests()); n != 2 {
		t.Errorf("the model was asked %d times", n)
	}
}

// TestCommandInMessages answers with a Message where that is what callers read.
func TestCommandInMessages(t *testing.T) {
	t.Parallel()
	p := start(t, "RUNTIME_REPLY=message", "RUNTIME_MID_TURN=steer")
	p.begin("m1", "one", "hang")
	p.modelAsked(1)
	answer := p.call("message/send", object{"message": object{
		"kind": "message", "messageId": "m2", "contextId": "one", "role": "user", "parts": []object{{"kind": "text", "text": "/stop"}},
	}})
	said, _ := at(answer, "result", "parts", 0, "text").(string)
	if at(answer, "result", "kind") != "message" || !strings.Contains(said, "one task was canceled") {
		t.Errorf("/stop is answered with %v", answer)
	}
}

// TestCommandWithMore is a message to codex.
func TestCommandWithMore(t *testing.T) {
	t.Parallel()
	p := start(t)
	if task := p.send("m1", "one", "/stop it"); text(task) != "echo: /stop it" {
		t.Errorf("the answer is %q", text(task))
	}
}
