package tasks_test

import (
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// TestStaleQuestionThatWasAnswered does not come back when the turn that its answer began was cut off, too.
func TestStaleQuestionThatWasAnswered(t *testing.T) {
	m := workspaceMachine(t)
	says(t, m, "m1", "hi", byUser())
	j := m.r.next(t).start()
	id := tasks.TaskOf(j.ID)
	j.ask("q1", "May I q1?")
	m.restart()
	says(t, m, "m2", "yes", byUser())
	m.r.next(t).start().ask("q2", "May I q2?")
	for range 3 {
		m.restart()
		if asks := status(get(t, m.e, id)); !strings.Contains(asks, "May I q2?") || strings.Contains(asks, "q1") {
			t.Errorf("the task asks %q", asks)
		}
	}
}
