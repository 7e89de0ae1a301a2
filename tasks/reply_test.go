package tasks_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/reply"
)

func TestReply(t *testing.T) {
	final, commentary := agent.PhaseFinalAnswer, agent.PhaseCommentary
	said := func(phased ...string) (all []agent.Message) {
		for i := 0; i < len(phased); i += 2 {
			all = append(all, agent.Message{ItemID: phased[i], Text: phased[i], Phase: phased[i+1]})
		}
		return all
	}
	completed := func(all []agent.Message) agent.Ended {
		return agent.Ended{Outcome: agent.Completed, Messages: all}
	}
	failed := func(f agent.Failure, all ...agent.Message) agent.Ended {
		return agent.Ended{Outcome: agent.Failed, Failure: &f, Messages: all}
	}
	cases := map[string]struct {
		end  agent.Ended
		want []string
	}{
		"one":              {completed(said("a", "")), []string{"a"}},
		"last":             {completed(said("a", "", "b", "")), []string{"b"}},
		"final-first":      {completed(said("a", final, "b", "", "c", commentary)), []string{"a"}},
		"last-final":       {completed(said("a", final, "b", final)), []string{"b"}},
		"not-commentary":   {completed(said("a", commentary, "b", "", "c", commentary)), []string{"b"}},
		"commentary-alone": {completed(said("a", commentary)), []string{"a"}},
		"nothing":          {completed(nil), []string{"(codex returned empty output)"}},
		"blank":            {completed(said(" \n", "")), []string{"(codex returned empty output)"}},
		"model":            {failed(agent.Failure{Kind: agent.FailModel, Message: "broke off"}), []string{"[codex error] broke off"}},
		"with-text":        {failed(agent.Failure{Kind: agent.FailModel, Message: "broke off"}, said("a", "")...), []string{"[codex error] broke off", "a"}},
		"unreachable":      {failed(agent.Failure{Kind: agent.FailUnreachable, Message: "gone"}), []string{"[codex unreachable] gone"}},
		"timeout":          {failed(agent.Failure{Kind: agent.FailTimeout, Timer: "turn", After: time.Hour, Message: "too long"}), []string{"[codex turn timed out after 3600s] too long"}},
		"auth": {
			failed(agent.Failure{Kind: agent.FailAuth, Message: "unexpected status 401 Unauthorized: Not logged in. Please run /login; Exception, port 4010"}),
			[]string{"[codex error] unexpected status unauthorized: without a login. please log in; fault, port 4010"},
		},
		"no-reason":   {agent.Ended{Outcome: agent.Failed}, []string{"[codex error] codex failed without saying why; send the message again"}},
		"interrupted": {agent.Ended{Outcome: agent.Interrupted, Failure: &agent.Failure{Kind: agent.FailUnreachable, Message: "died"}}, []string{"[codex unreachable] died"}},
		"canceled":    {agent.Ended{Outcome: agent.Canceled}, []string{"[codex error] this message was canceled before it was answered"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRunner()
			e := newEngine(t, r)
			task := begin(t, e, request("m1", "c", "hi"))
			if m := reply.Of(task); m != nil {
				t.Errorf("reply of a task that has not ended: %+v", m)
			}
			r.next(t).start().end(c.end)
			task = get(t, e, task.ID)
			if got := partTexts(reply.Of(task)); !cmp.Equal(c.want, got) {
				t.Errorf("reply = %q, want %q", got, c.want)
			}
			if got := partTexts(reply.Of(overTheWire(t, task))); !cmp.Equal(c.want, got) {
				t.Errorf("reply of the task out of a store = %q, want %q", got, c.want)
			}
			if m := reply.Of(task); m.ID != reply.Of(task).ID || m.TaskID != task.ID || m.ContextID != "c" || m.Role != a2a.MessageRoleAgent {
				t.Errorf("message = %+v", m)
			}
		})
	}
}

func TestReplyOfAQuestion(t *testing.T) {
	task := &a2a.Task{ID: "t", ContextID: "c", Status: a2a.TaskStatus{State: a2a.TaskStateInputRequired, Message: message("q", "may I?")}}
	if got := partTexts(reply.Of(task)); !cmp.Equal([]string{"may I?"}, got) {
		t.Errorf("reply = %q", got)
	}
}

func TestFailureMetadata(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	task := begin(t, e, request("m1", "c", "hi"))
	r.next(t).start().end(agent.Ended{Outcome: agent.Interrupted, Failure: &agent.Failure{
		Kind: agent.FailTimeout, Timer: "idle", After: 90 * time.Second, Code: "x", Message: "silent",
	}})
	task = get(t, e, task.ID)
	want := map[string]any{"kind": "timeout", "timer": "idle", "afterSeconds": 90.0, "code": "x"}
	if diff := cmp.Diff(want, task.Metadata[keys.Failure]); diff != "" {
		t.Errorf("failure (-want +got):\n%s", diff)
	}
	if task.Metadata[keys.Interrupted] != true || task.Status.State != a2a.TaskStateFailed || partTexts(task.Status.Message)[0] != "silent" {
		t.Errorf("task = %+v", task)
	}
}

func partTexts(m *a2a.Message) []string {
	var out []string
	for _, p := range m.Parts {
		out = append(out, p.Text())
	}
	return out
}

func overTheWire(t *testing.T, task *a2a.Task) *a2a.Task {
	t.Helper()
	body, err := json.Marshal(task)
	if err != nil {
		t.Fatal(err)
	}
	var out a2a.Task
	if err := json.Unmarshal(body, &out); err != nil {
		t.Fatal(err)
	}
	return &out
}
