package e2e

import (
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/progtest"
)

// TestCommandsEndSubagents that go on after a turn which has ended well; those of
// another conversation go on.
func TestCommandsEndSubagents(t *testing.T) {
	t.Parallel()
	model := modeltest.Start(t, func(turn *fakemodel.Turn) {
		command, makes := strings.CutPrefix(turn.LastUserText(), "have run ")
		switch {
		case makes && strings.Contains(string(turn.Body), "newly spawned child agent"):
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
