package fakemodel_test

import (
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
)

// TestGoalsStartTurnsOfTheirOwn shows why the runtime turns goals off: once the
// model has set one, codex starts a turn that nobody sent a message for.
func TestGoalsStartTurnsOfTheirOwn(t *testing.T) {
	t.Parallel()
	c := start(t, func(t *fakemodel.Turn) {
		if t.LastUserText() == "set a goal" && len(t.NewToolOutputs()) == 0 && t.Seq == 1 {
			t.Call("create_goal", `{"objective":"finish"}`)
			return
		}
		if t.Seq > 4 { // so that it comes to an end
			t.Fail(400, `{}`)
			return
		}
		t.Say("working on it")
	})
	thread := c.thread()
	first := c.run(thread, "set a goal")
	deadline := time.After(patience)
	for {
		select {
		case l := <-c.lines:
			if next := new(turn); l.Method == "turn/started" && !next.take(t, l) && next.id != first.id {
				return
			}
		case <-deadline:
			t.Fatal("no second turn: goals may be left on, see docs/codex-features.md")
		}
	}
}
