package tasks_test

import (
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/reply"
)

var loginData = map[string]any{"kind": "auth", "userCode": "ABCD", "verificationUrl": "https://example.com/device"}

func (j *job) hold(text string) {
	j.observe(agent.Paused{Kind: agent.FailAuth, Text: text, Data: loginData})
}

func (j *job) limit(data map[string]any) {
	j.observe(agent.Paused{Kind: agent.FailLimit, Text: "until five", Data: data})
}

func TestHeldForALogin(t *testing.T) {
	r := newRunner()
	r.onSubmit = func(j *job) { j.hold("log in with ABCD") } // before Submit has returned
	e := newEngine(t, r)
	answer, err := e.SendMessage(t.Context(), request("m1", "c", "hello"))
	if err != nil {
		t.Fatal(err)
	}
	task := answer.(*a2a.Task)
	wantTask(t, task, a2a.TaskStateAuthRequired, "log in with ABCD")
	if diff := cmp.Diff(any(loginData), task.Status.Message.Parts[1].Data()); diff != "" {
		t.Errorf("the data part differs (-want +got):\n%s", diff)
	}
	j := r.next(t)
	if j.Patient {
		t.Error("a job whose sender waits is patient")
	}
	j.hold("log in with EFGH")
	wantTask(t, get(t, e, task.ID), a2a.TaskStateAuthRequired, "log in with EFGH")
	j.observe(agent.Resumed{})
	wantTask(t, get(t, e, task.ID), a2a.TaskStateSubmitted, "")
	j.start()
	j.answer("done")
	wantTask(t, get(t, e, task.ID), a2a.TaskStateCompleted, "done")
}

// TestHeldAfterAnAttempt is refused when it has begun: a stream of its sender ends
// there, one of a subscriber goes on.
func TestHeldAfterAnAttempt(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	sender := listen(e.SendStreamingMessage(t.Context(), request("m1", "c", "hello")))
	j := r.next(t)
	if !j.Patient {
		t.Error("a job whose sender follows the stream is not patient")
	}
	j.start()
	j.hold("log in")
	events := sender.wait(t)
	last, ok := events[len(events)-1].(*a2a.TaskStatusUpdateEvent)
	if !ok || last.Status.State != a2a.TaskStateAuthRequired {
		t.Fatalf("the stream ends with %s", show(events[len(events)-1]))
	}
	subscriber := follow(t, e, last.TaskID)
	select {
	case <-subscriber.ended:
		t.Error("the stream of a subscriber ends, too")
	case <-time.After(50 * time.Millisecond):
	}
	j.observe(agent.Resumed{})
	wantTask(t, get(t, e, last.TaskID), a2a.TaskStateWorking, "")
	j.attempt(2)
	j.answer("done")
	wantTask(t, get(t, e, last.TaskID), a2a.TaskStateCompleted, "done")
	if events := subscriber.wait(t); len(events) < 4 {
		t.Errorf("the subscriber saw\n%s", showAll(events))
	}
}

// TestHeldBehindAnother has a message of a task that waits behind a turn: it has
// its say when that has ended.
func TestHeldBehindAnother(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	task := begin(t, e, request("m1", "c", "hello"))
	first := r.next(t).start()
	begin(t, e, to(task, "m2", "and this"))
	second := r.next(t)
	second.hold("log in")
	wantTask(t, get(t, e, task.ID), a2a.TaskStateWorking, "")
	first.answer("one")
	wantTask(t, get(t, e, task.ID), a2a.TaskStateAuthRequired, "log in")
	second.observe(agent.Resumed{})
	second.start()
	second.answer("two")
	wantTask(t, get(t, e, task.ID), a2a.TaskStateCompleted, "two")
}

func TestHeldByALimit(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	task := begin(t, e, request("m1", "c", "hello"))
	j := r.next(t)
	if !j.Patient {
		t.Error("a job whose sender does not wait is not patient")
	}
	data := map[string]any{"kind": "limit", "limit": "5h", "resetsAt": "2026-11-21T17:00:00Z"}
	j.limit(data)
	held := get(t, e, task.ID)
	if diff := cmp.Diff(any(data), held.Metadata[keys.Held]); diff != "" || held.Status.State != a2a.TaskStateSubmitted {
		t.Errorf("state %s; metadata differs (-want +got):\n%s", held.Status.State, diff)
	}
	j.observe(agent.Resumed{})
	if held = get(t, e, task.ID); held.Metadata[keys.Held] != nil {
		t.Errorf("metadata = %v after the release", held.Metadata)
	}
	resets := time.Date(2026, 11, 21, 17, 0, 0, 0, time.UTC)
	j.end(agent.Ended{Outcome: agent.Failed, Failure: &agent.Failure{
		Kind: agent.FailLimit, Message: "used up", Code: "usageLimitExceeded", Limit: "5h", ResetsAt: resets,
	}})
	want := map[string]any{"kind": "limit", "code": "usageLimitExceeded", "limit": "5h", "resetsAt": "2026-11-21T17:00:00Z"}
	if diff := cmp.Diff(any(want), get(t, e, task.ID).Metadata[keys.Failure]); diff != "" {
		t.Errorf("the failure differs (-want +got):\n%s", diff)
	}
}

// TestHeldOverARestart shows no code that the process before has given out.
func TestHeldOverARestart(t *testing.T) {
	m := newMachine(t)
	task := begin(t, m.e, request("m1", "c", "hello"))
	m.r.next(t).hold("log in with ABCD")
	wantTask(t, get(t, m.e, task.ID), a2a.TaskStateAuthRequired, "log in with ABCD")
	m.kill()
	m.start()
	wantTask(t, get(t, m.e, task.ID), a2a.TaskStateSubmitted, "")
	j := m.r.next(t)
	j.hold("log in with EFGH")
	wantTask(t, get(t, m.e, task.ID), a2a.TaskStateAuthRequired, "log in with EFGH")
	j.observe(agent.Resumed{})
	j.start()
	j.answer("done")
	wantTask(t, get(t, m.e, task.ID), a2a.TaskStateCompleted, "done")
}

func TestLoginAsAMessage(t *testing.T) {
	r := newRunner()
	r.onSubmit = func(j *job) { j.hold("The model needs a login (unexpected status 401 Unauthorized): enter ABCD") }
	e := newEngine(t, r)
	answer, err := e.SendMessage(t.Context(), request("m1", "c", "hello"))
	if err != nil {
		t.Fatal(err)
	}
	m := reply.Of(answer.(*a2a.Task))
	if got := m.Parts[0].Text(); got != "The model needs a login (unexpected status unauthorized): enter ABCD" {
		t.Errorf("reply = %q", got)
	}
}

// TestHeldForRoom: a message that waits for room on a machine says for what in its task, until its turn begins.
func TestHeldForRoom(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	task := begin(t, e, request("m1", "c", "hello"))
	j := r.next(t)
	data := map[string]any{"kind": "unreachable", "reason": "all machines are full"}
	j.observe(agent.Paused{Kind: agent.FailUnreachable, Text: "all machines are full", Data: data})
	held := get(t, e, task.ID)
	if diff := cmp.Diff(any(data), held.Metadata[keys.Held]); diff != "" || held.Status.State != a2a.TaskStateSubmitted {
		t.Errorf("state %s; metadata differs (-want +got):\n%s", held.Status.State, diff)
	}
	j.start()
	if begun := get(t, e, task.ID); begun.Metadata[keys.Held] != nil || begun.Status.State != a2a.TaskStateWorking {
		t.Errorf("state %s, metadata %v when its turn has begun", begun.Status.State, begun.Metadata)
	}
}
