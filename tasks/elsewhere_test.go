package tasks_test

import (
	"context"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// TestElsewhere: a message that another process has answered is not taken up. Its task ends canceled, with what its turn has
// asked; one that has more messages goes on with them, and knows of the tools that may have run for them.
func TestElsewhere(t *testing.T) {
	var gone []string
	m := newMachine(t, func(c *tasks.Config) {
		c.Elsewhere = func(context.Context) ([]string, error) { return gone, nil }
	})
	alone := begin(t, m.e, request("m1", "one", "go"))
	first := m.r.next(t).start()
	asked := begin(t, m.e, request("m2", "two", "go"))
	second := m.r.next(t).start()
	second.observe(agent.Question{ID: "q", Text: "May I?"})
	both := begin(t, m.e, request("m3", "three", "go"))
	third := m.r.next(t).start()
	third.observe(tool("c1"))
	more := request("m4", "three", "and this")
	more.Message.TaskID = both.ID
	begin(t, m.e, more)
	m.r.next(t).start()
	for _, task := range []*a2a.Task{alone, asked, both} {
		m.save(task.ID)
	}
	gone = []string{first.ID, second.ID, third.ID}
	m.restart()
	for _, id := range []a2a.TaskID{alone.ID, asked.ID} {
		if task := get(t, m.e, id); task.Status.State != a2a.TaskStateCanceled {
			t.Errorf("task %s is %s", id, task.Status.State)
		}
	}
	left := m.r.next(t)
	if got := left.prompt(); !strings.Contains(got, "and this") || left.Cut == nil || !left.Cut.Tool {
		t.Errorf("%q goes on, with %+v", got, left.Cut)
	}
	left.start().answer("done")
	if task := get(t, m.e, both.ID); task.Status.State != a2a.TaskStateCompleted {
		t.Errorf("the other is %s", task.Status.State)
	}
	m.restart()
	if n := m.r.count(); n != 0 {
		t.Errorf("then %d messages are taken up", n)
	}
}
