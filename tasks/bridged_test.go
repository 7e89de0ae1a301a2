package tasks_test

import (
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
)

// TestRunnerKnowsTheBridge: which messages hand a task over, over a restart, too.
func TestRunnerKnowsTheBridge(t *testing.T) {
	m := newMachine(t)
	handed := request("m1", "one", "hi")
	handed.Message.Metadata = map[string]any{keys.Bridge: true}
	begin(t, m.e, handed)
	begin(t, m.e, request("m2", "two", "hi"))
	for range 2 {
		bridged := map[string]bool{}
		for range 2 {
			j := m.r.next(t)
			bridged[j.Context] = j.Bridged
		}
		if !bridged["one"] || bridged["two"] {
			t.Errorf("handed over are %v", bridged)
		}
		m.restart()
	}
}

// TestFolderOfATask is where its turn runs, also where the message has named none.
func TestFolderOfATask(t *testing.T) {
	m := newMachine(t)
	task := begin(t, m.e, request("m1", "one", "hi"))
	j := m.r.next(t)
	j.observe(agent.Started{ThreadID: "th", TurnID: "tu", Attempt: 1, Cwd: "/work/here"})
	if got := get(t, m.e, task.ID).Metadata[keys.Cwd]; got != "/work/here" {
		t.Errorf("the folder is %v", got)
	}
}
