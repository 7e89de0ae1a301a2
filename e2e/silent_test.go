package e2e

import (
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
)

// TestSilentModelEndsTheTurn: a model that says nothing holds a conversation for CODEX_IDLE_TIMEOUT, and not for ever.
func TestSilentModelEndsTheTurn(t *testing.T) {
	t.Parallel()
	p := start(t, "CODEX_IDLE_TIMEOUT=2s")
	p.Model.SetScript(func(t *fakemodel.Turn) {
		if t.Seq == 1 {
			t.Hang()
			return
		}
		t.Say("here")
	})
	task := p.ended(p.begin("m1", "one", "hang")["id"])
	if at(task, "status", "state") != "TASK_STATE_FAILED" || at(task, "metadata", "failure", "timer") != "idle" {
		t.Errorf("the task is %v", task)
	}
	if next := p.ended(p.begin("m2", "one", "go")["id"]); text(next) != "here" {
		t.Errorf("the next message: %v", next["status"])
	}
}
