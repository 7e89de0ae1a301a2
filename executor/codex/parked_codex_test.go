package codex_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

func wantParked(t *testing.T, e *rig, parked, working int) {
	t.Helper()
	eventually(t, "the slot to be left to others, or kept", func() bool {
		slots := e.Health().Slots
		return slots.Parked == parked && slots.Working == working
	})
}

// TestQuestionsOfEachKindHoldNoSlot: other turns run meanwhile, and the answer has its
// effect.
func TestQuestionsOfEachKindHoldNoSlot(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), func(c *config) {
		withMCP()(c)
		asks("-c", "features.default_mode_request_user_input=true")(c)
		narrow(c)
	})
	for id, c := range map[string]struct {
		text    string
		answers []string
	}{
		"command": {"escalate echo ran", []string{"yes"}},
		"input":   {userInput, []string{"1"}},
		"mcp":     {"call mcp__asker::form {}", []string{"yes", "name: Ada\nage: 36"}},
	} {
		w := submit(t, e, id, id, c.text)
		for i, answer := range c.answers {
			q := w.asked(t, i+1)
			wantParked(t, e, 1, 0)
			if end := submit(t, e, id+"-other", "other", "say hello").wait(t); said(end) != "hello" {
				t.Errorf("%s: a turn beside it ends as %+v", id, end)
			}
			mustReply(t, e, id, q, answer)
		}
		wantEnd(t, w.wait(t), agent.Completed, "")
	}
}

// TestCommandBesideAQuestionKeepsTheSlot until it has ended.
func TestCommandBesideAQuestionKeepsTheSlot(t *testing.T) {
	t.Parallel()
	const sign = "sign"
	model := modeltest.Start(t, func(t *fakemodel.Turn) {
		if len(t.NewToolOutputs()) == 0 {
			t.Call("exec_command", fakemodel.Escalated("echo ran"))
			t.Call("exec_command", `{"cmd":"until [ -e `+sign+` ]; do sleep 0.02; done","yield_time_ms":60000}`)
			return
		}
		t.Say("both")
	})
	var dir string
	e := onCodex(t, model, func(c *config) {
		asks()(c)
		narrow(c)
		dir = c.Child.Dir
	})
	w := submit(t, e, "j1", "one", "go")
	q := w.asked(t, 1)
	eventually(t, "both commands to be shown", func() bool { return len(seen[agent.ItemStarted](w)) == 2 })
	wantParked(t, e, 0, 1)
	if err := os.WriteFile(filepath.Join(dir, sign), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wantParked(t, e, 1, 0)
	mustReply(t, e, "j1", q, "yes")
	if end := w.wait(t); said(end) != "both" {
		t.Errorf("end = %+v", end)
	}
}

// TestCanceledSubagentEndsNoTurn: its own ends, and ours goes on in a slot.
func TestCanceledSubagentEndsNoTurn(t *testing.T) {
	t.Parallel()
	spawn, _ := json.Marshal(map[string]any{"task_name": "sub", "message": "do it"})
	model := modeltest.Start(t, func(t *fakemodel.Turn) {
		outputs := t.NewToolOutputs()
		switch sub := t.FromSubagent(); {
		case sub && len(outputs) == 0:
			t.Call("exec_command", fakemodel.Escalated("echo ran-by-sub"))
		case sub:
			t.Say("sub is done")
		case len(outputs) == 0:
			t.CallIn("collaboration", "spawn_agent", string(spawn))
		case len(outputs) == 1:
			t.CallIn("collaboration", "wait_agent", `{"timeout_ms":30000}`)
		}
	})
	e := onCodex(t, model, func(c *config) {
		asks()(c)
		narrow(c)
	})
	w := submit(t, e, "j1", "one", "go")
	q := w.asked(t, 1)
	wantParked(t, e, 1, 0)
	mustReply(t, e, "j1", q, "cancel")
	eventually(t, "codex to be told", func() bool { return len(seen[agent.Answered](w)) == 1 })
	wantParked(t, e, 0, 1)
	cancel(t, e, "j1") // it waits for its subagent
	wantEnd(t, w.wait(t), agent.Canceled, "")
}
