package tasks_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// A noting watcher notes what it hears of jobs.
type noting struct{ heard []string }

func (n *noting) Watch(j executor.Job, into string, next executor.Observer) (executor.Observer, func(error)) {
	n.heard = append(n.heard, fmt.Sprintf("%s, into a turn: %t", j.Input[0].Text, into != ""))
	observe := func(e agent.Event) {
		n.heard = append(n.heard, fmt.Sprintf("%T", e))
		next(e)
	}
	return observe, func(err error) { n.heard = append(n.heard, err.Error()) }
}

// TestJobsAreWatched: every job, whether it is for a turn of its own or for that of another, and with what refuses it.
func TestJobsAreWatched(t *testing.T) {
	r, n := newSteerer(), &noting{}
	e := newEngine(t, r, func(c *tasks.Config) { c.Watchers = executor.Watchers{n} })
	task := begin(t, e, request("m1", "c", "one"))
	one := r.next(t).start()
	two := sent(t, e, to(task, "m2", "two"))
	(<-r.steered).observe(agent.Steered{TurnID: "turn"})
	<-two
	r.stopTaking()
	begin(t, e, to(task, "m3", "three"))
	r.next(t)
	r.refuse = executor.ErrQueueFull
	if _, err := e.SendMessage(t.Context(), request("m4", "d", "four")); err == nil {
		t.Error("a job that was refused has a task")
	}
	one.observe(agent.Resumed{})
	want := []string{
		"one, into a turn: false", "agent.Started",
		"two, into a turn: true", "agent.Steered",
		"three, into a turn: true", executor.ErrNotRunning.Error(), "three, into a turn: false",
		"four, into a turn: false", executor.ErrQueueFull.Error(),
		"agent.Resumed",
	}
	if !slices.Equal(n.heard, want) {
		t.Errorf("heard %q, want %q", n.heard, want)
	}
}
