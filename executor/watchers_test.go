package executor

import (
	"errors"
	"slices"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// A noting watcher notes when it hears of something. Without a refused it does not hear of that.
type noting struct {
	name    string
	refused bool
	heard   *[]string
}

func (n noting) Watch(job Job, into string, next Observer) (Observer, func(error)) {
	note := func(what string) { *n.heard = append(*n.heard, n.name+" "+what) }
	note(job.ID + " into " + into)
	observe := func(e agent.Event) {
		note("before")
		next(e)
		note("after")
	}
	if !n.refused {
		return observe, nil
	}
	return observe, func(err error) { note(err.Error()) }
}

// TestWatchersInOrder: each hears of everything once, in the order of the list, and the list in a list is one of them.
func TestWatchersInOrder(t *testing.T) {
	var heard []string
	all := Watchers{noting{"a", true, &heard}, Watchers{noting{"b", false, &heard}, noting{"c", true, &heard}}, Watchers{}}
	observe, refused := all.Watch(Job{ID: "j"}, "k", func(agent.Event) { heard = append(heard, "told") })
	observe(agent.Resumed{})
	refused(errors.New("refused"))
	want := []string{
		"c j into k", "b j into k", "a j into k",
		"a before", "b before", "c before", "told", "c after", "b after", "a after",
		"a refused", "c refused",
	}
	if !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
}
