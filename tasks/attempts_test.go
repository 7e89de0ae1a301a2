package tasks_test

import (
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
)

// TestAttemptsInOneProcess: the child died, and the same job begins again.
func TestAttemptsInOneProcess(t *testing.T) {
	m := newMachine(t)
	stream := listen(m.e.SendStreamingMessage(t.Context(), request("m1", "c", "hi")))
	j := m.r.next(t).start()
	j.say("a", "one")
	j.whole("a", "one", "commentary")
	j.say("b", "two")
	j.attempt(2)
	j.say("c", "whole")
	j.end(agent.Ended{Outcome: agent.Completed, Messages: []agent.Message{{ItemID: "c", Text: "whole"}}})
	events := stream.wait(t)
	id := events[0].(*a2a.Task).ID
	if got := strings.Join(texts(get(t, m.e, id)), " "); got != `a="whole"` {
		t.Errorf("the task has %s", got)
	}
	if got := fold(t, events); got["a"] != "whole" || got["b"] != "" {
		t.Errorf("the reader has %v", got)
	}
	m.restart()
	if got := strings.Join(texts(get(t, m.e, id)), " "); got != `a="whole"` {
		t.Errorf("after a restart the task has %s", got)
	}
}

// TestEpochsOfAttempts: what an attempt shows is of an epoch of its own.
func TestEpochsOfAttempts(t *testing.T) {
	m := newMachine(t)
	id := begin(t, m.e, request("m1", "c", "hi")).ID
	j := m.r.next(t).start()
	j.say("a", "one")
	j.attempt(2)
	j.answer("two")
	var epochs []string
	for _, event := range read(t, m.resume(id, "1.0"), 0) {
		epoch, _, _ := strings.Cut(event.ID, ".")
		epochs = append(epochs, epoch)
	}
	if got := strings.Join(epochs, ""); got != "111"+strings.Repeat("2", len(epochs)-3) {
		t.Errorf("epochs of the events: %s", got)
	}
}

// TestRetryOfOneOfMany: what runs again is the message that was cut off, whatever
// became of the others of its task.
func TestRetryOfOneOfMany(t *testing.T) {
	m := newMachine(t)
	first := request("m1", "c", "one")
	task := begin(t, m.e, first)
	second := request("m2", "", "two")
	second.Message.TaskID = task.ID
	begin(t, m.e, second)
	j := m.r.next(t).start()
	j.observe(tool("cmd"))
	j.end(agent.Ended{Outcome: agent.Interrupted, Tools: true, Failure: &agent.Failure{Kind: agent.FailUnreachable, Message: "cut off"}})
	m.r.next(t).start().answer("two is done")
	if got := get(t, m.e, task.ID); got.Status.State != a2a.TaskStateCompleted || got.Metadata[keys.Interrupted] != true {
		t.Errorf("%s %v", got.Status.State, got.Metadata)
	}
	m.restart()
	for _, req := range []*a2a.SendMessageRequest{first, second} {
		req.Message.Metadata = map[string]any{"retry": true}
	}
	if again := begin(t, m.e, second); again.ID != task.ID {
		t.Error("a message that had its turn runs again")
	}
	if again := begin(t, m.e, first); again.ID == task.ID || m.r.next(t).prompt() != "one" {
		t.Error("the message that was cut off does not run again")
	}
}

// TestRefusedRetry leaves everything as it was.
func TestRefusedRetry(t *testing.T) {
	m := newMachine(t)
	req := request("m1", "c", "one")
	task := begin(t, m.e, req)
	j := m.r.next(t).start()
	j.observe(tool("cmd"))
	j.end(agent.Ended{Outcome: agent.Interrupted, Tools: true, Failure: &agent.Failure{Kind: agent.FailUnreachable, Message: "cut off"}})
	m.r.refuse = executor.ErrQueueFull
	again := request("m1", "c", "one")
	again.Message.Metadata = map[string]any{"retry": true}
	_, err := m.e.SendMessage(t.Context(), again)
	wantError(t, err, a2a.ErrServerError, "later")
	m.r.refuse = nil
	m.restart()
	if same := begin(t, m.e, req); same.ID != task.ID || m.r.count() != 0 {
		t.Error("the message lost its key, and runs again without being told to")
	}
	_, err = m.e.SendMessage(t.Context(), request("m1", "c", "other"))
	wantError(t, err, a2a.ErrInvalidParams, "other content")
}

// TestTwoCutsAndARestart: what both attempts have shown makes room for the third.
func TestTwoCutsAndARestart(t *testing.T) {
	m := newMachine(t)
	id := begin(t, m.e, request("m1", "c", "hi")).ID
	j := m.r.next(t).start()
	j.say("a", "half of")
	m.save(id)
	m.restart()
	j = m.r.next(t).attempt(2)
	j.say("b", "half of it, and")
	m.save(id)
	m.restart()
	j = m.r.next(t)
	if err := m.r.book.Begin(t.Context(), executor.Attempt{Job: j.ID, N: 3, Conversation: "c", Thread: "thread"}); err != nil {
		t.Fatal(err)
	}
	m.restart() // and nothing of the third was ever seen
	j = m.r.next(t).attempt(4)
	j.end(agent.Ended{Outcome: agent.Completed, Messages: []agent.Message{{ItemID: "d", Text: "all of it"}}})
	if got := strings.Join(texts(get(t, m.e, id)), " "); got != `a="all of it"` {
		t.Errorf("the task has %s", got)
	}
}

// TestAttemptThatSaysNothing keeps what the one before has shown, unless it is whole.
func TestAttemptThatSaysNothing(t *testing.T) {
	for outcome, want := range map[agent.Outcome]string{agent.Interrupted: "half of it", agent.Completed: ""} {
		m := newMachine(t)
		stream := listen(m.e.SendStreamingMessage(t.Context(), request("m1", "c", "hi")))
		j := m.r.next(t).start()
		j.say("a", "half of it")
		j.attempt(2)
		j.observe(agent.ItemStarted{Item: agent.Item{Kind: agent.KindMessage, ID: "b"}})
		end := agent.Ended{Outcome: outcome}
		if outcome == agent.Interrupted {
			end.Tools, end.Failure = true, &agent.Failure{Kind: agent.FailUnreachable, Message: "cut off"}
		}
		j.end(end)
		events := stream.wait(t)
		kept := content(get(t, m.e, events[0].(*a2a.Task).ID))
		if kept["a"] != want || fold(t, events)["a"] != want {
			t.Errorf("%s: the task has %v, the reader %v", outcome, kept, fold(t, events))
		}
	}
}
