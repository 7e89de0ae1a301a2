package tasks_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/reply"
)

// TestAside: a message that went aside of the user's conversation is within the reach of who speaks
// there: an answer by the id of what is asked, /status and /stop. Words go into the turn of the
// conversation itself, also while it asks, and what that asks is answered by them.
func TestAside(t *testing.T) {
	agents := &endings{}
	d := newDesk(t, func(c *tasks.Config) { c.Conversations = agents })
	first := d.call("m1", "", nil, "hi")
	j := d.r.next(t)
	begun(j)
	j.observe(agent.ItemStarted{Item: agent.Item{Kind: agent.KindTool, ID: "i", Tool: "delegate_task"}})
	asking := d.call("m2", "", nil, "tell me first")
	aside := d.r.next(t)
	begun(aside)
	if !strings.HasPrefix(aside.Context, "canvas-ws/aside/") {
		t.Fatalf("it is in %q: this test has nothing to show", aside.Context)
	}
	aside.ask("q1", "May I q1?")
	asking.wait(t)
	if text := reply.Of(asking.task).Parts[0].Text(); !strings.Contains(text, "name the task ("+string(asking.task.ID)+")") || !strings.Contains(text, "the question (q1)") {
		t.Errorf("what is asked aside: %q", text)
	}
	d.call("m3", "", map[string]any{"source": "canvas_user"}, "and this").wait(t)
	if got := d.r.into; len(got) != 1 || got[0] != j.ID {
		t.Errorf("the user's words went into %v, want %s", got, j.ID)
	}
	j.ask("q2", "May I q2?")
	first.wait(t)
	aside.ask("q1b", "May I q1b?") // which its sender is shown last
	if yes := send(t, d.e, atOnce(&a2a.Task{}, "m4a", "yes")); d.r.answers() != 0 || !strings.Contains(reply.Of(yes).Parts[0].Text(), "Answer again, to this:\n\nMay I q2?") {
		t.Errorf("a yes behind a question aside: %d answers, %q", d.r.answers(), reply.Of(yes).Parts[0].Text())
	}
	if yes := send(t, d.e, atOnce(&a2a.Task{}, "m4", "yes")); yes.ID != first.task.ID || d.r.answers() != 1 {
		t.Errorf("a yes went to %s, want %s, which has asked last; %d answers", yes.ID, first.task.ID, d.r.answers())
	}
	j.ask("q3", "May I q3?")
	for _, c := range []struct {
		id   string
		want a2a.TaskID
	}{{"q1", asking.task.ID}, {"q3", first.task.ID}, {"q1b", asking.task.ID}} {
		named := atOnce(&a2a.Task{}, "m-"+c.id, "")
		named.Message.Parts = a2a.ContentParts{a2a.NewDataPart(map[string]any{"id": c.id, "decision": "accept"})}
		if yes := send(t, d.e, named); yes.ID != c.want {
			t.Errorf("an answer to %s went to %s, want %s", c.id, yes.ID, c.want)
		}
	}
	if d.r.answers() != 4 {
		t.Errorf("%d answers, want 4", d.r.answers())
	}
	status := d.call("m5", "", nil, "/status")
	status.wait(t)
	if text := reply.Of(status.task).Parts[0].Text(); strings.Count(text, "A turn is running") != 2 {
		t.Errorf("/status: %q", text)
	}
	j.observe(agent.Ended{Outcome: agent.Completed, Taken: d.r.steered, Messages: []agent.Message{{ItemID: "m", Text: "both"}}})
	first.wait(t)
	stop := d.call("m6", "", nil, "/stop")
	stop.wait(t)
	if text := reply.Of(stop.task).Parts[0].Text(); !strings.Contains(text, "one task was canceled, 2 subagents were ended") {
		t.Errorf("/stop: %q", text)
	}
	if !slices.Contains(agents.of, aside.Context) {
		t.Errorf("the subagents of %q were ended", agents.of)
	}
}

// endings are conversations in each of which a subagent is at work.
type endings struct {
	drops
	of []string
}

func (e *endings) EndAgents(_ context.Context, conversation string) (int, error) {
	e.of = append(e.of, conversation)
	return 1, nil
}

// TestWordsToACommand: the task of a command takes no further message, of which a restart could make another.
func TestWordsToACommand(t *testing.T) {
	d := newDesk(t)
	d.r.onCancel = func(*job) {} // the stop waits for what does not end
	d.call("m1", "", nil, "hi")
	j := d.r.next(t)
	begun(j)
	stop := send(t, d.e, atOnce(&a2a.Task{}, "m2", "/stop"))
	for _, words := range []string{"hello", "/new"} {
		_, err := d.e.SendMessage(t.Context(), to(stop, "m-"+words, words))
		wantError(t, err, a2a.ErrUnsupportedOperation, "takes no further message")
	}
	j.observe(agent.Ended{Outcome: agent.Canceled})
}
