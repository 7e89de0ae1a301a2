package e2e

import (
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestCommandsEndSubagents that go on after a turn which has ended well; those of
// another conversation go on.
func TestCommandsEndSubagents(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	model := modeltest.Start(t, func(turn *fakemodel.Turn) {
		command, makes := strings.CutPrefix(turn.LastUserText(), "have run ")
		switch {
		case makes && turn.FromSubagent():
			turn.Exec(command)
		case makes && len(turn.NewToolOutputs()) == 0:
			turn.CallIn("collaboration", "spawn_agent", `{"task_name":"sub","message":"go"}`)
		default:
			turn.Say("done")
		}
	})
	p := startOn(t, binary, model)
	p.send("m1", "one", "have run sleep 31")
	p.send("m2", "two", "have run sleep 32")
	p.commandRuns("sleep 31")
	p.commandRuns("sleep 32")
	wantWords(t, p.send("m3", "one", "/stop"), "Stopped: one subagent was ended.")
	if n := progtest.Find(p.Child(), "sleep 31"); n != 0 {
		t.Errorf("%d commands of the subagent run after /stop", n)
	}
	wantWords(t, p.send("m4", "one", "/stop"), "Nothing was running")
	if progtest.Find(p.Child(), "sleep 32") == 0 {
		t.Error("the subagent of another conversation was ended")
	}
	wantWords(t, p.send("m5", "two", "/new"), "begins a new conversation")
	if n := progtest.Find(p.Child(), "sleep 32"); n != 0 {
		t.Errorf("%d commands of the subagent run after /new", n)
	}
}

// TestSubagentToolsReachNoOtherConversation: the older set of codex's, which it offers to models
// that it does not know and to some that it does, takes the id of any thread. A message may name
// any model.
func TestSubagentToolsReachNoOtherConversation(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	const tools = "multi_agent_v1"
	calls := []string{"resume_agent", "send_input", "wait_agent", "close_agent"}
	offered := make(chan string, 100)
	model := modeltest.Start(t, func(turn *fakemodel.Turn) {
		thread, reaches := strings.CutPrefix(turn.LastUserText(), "reach ")
		done := turn.NewToolOutputs()
		switch {
		case !reaches:
			fakemodel.Keywords(turn)
		case len(done) < len(calls):
			if len(done) == 0 && strings.Contains(string(turn.Body), tools) {
				offered <- string(turn.Body)
			}
			turn.CallIn(tools, calls[len(done)], `{"id":"`+thread+`","target":"`+thread+`","targets":["`+thread+`"],"message":"run touch reached","timeout_ms":10000}`)
		default:
			var said []string
			for _, output := range done {
				said = append(said, output.Text)
			}
			turn.Say(strings.Join(said, "\n"))
		}
	})
	p := startOn(t, binary, model, "CODEX_SANDBOX=danger-full-access", "CODEX_APPROVAL_POLICY=never")
	thread, _ := at(p.send("m1", "one", "say hello"), "metadata", "threadId").(string)
	for _, name := range []string{"unknown-model", "gpt-5.5", "gpt-5.6-luna", "gpt-6.1-sol"} {
		m := message("m-"+name, "of "+name, "reach "+thread)
		m["metadata"] = object{"model": name, "sandbox": "read-only", "approvalPolicy": "never"}
		task := p.task(p.call("SendMessage", object{"message": m}))
		if n := strings.Count(text(task), "unsupported call"); n != len(calls) {
			t.Errorf("%s: %d of %d calls are refused: %q", name, n, len(calls), text(task))
		}
	}
	if len(offered) > 0 {
		t.Errorf("%s is offered", tools)
	}
	wantWords(t, p.send("m2", "one", "run ls"), "exit code 0")
	if listed := text(p.send("m3", "one", "run ls")); strings.Contains(listed, "reached") {
		t.Errorf("a turn that nobody sent has run in the other conversation: %q", listed)
	}
}
