package tasks

import (
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// TestAllThatIsToldAgainIsBounded: what a task has told so counts among that of all until it ends.
func TestAllThatIsToldAgainIsBounded(t *testing.T) {
	e := &Engine{live: map[a2a.TaskID]*task{}}
	var all []*task
	for range 9 {
		all = append(all, e.newTask("", "", ""))
	}
	for _, other := range all[:8] {
		if !other.mayTell(&other.asksTold, mostTold) || other.mayTell(&other.asksTold, mostTold+1) {
			t.Error("a task has another bound")
		}
		other.countTold(&other.asksTold, mostTold)
	}
	last := all[8]
	if last.mayTell(&last.diffsTold, 1) {
		t.Error("of all tasks more is told")
	}
	e.forget(all[0])
	e.forget(all[0])
	if !last.mayTell(&last.diffsTold, mostTold) || last.mayTell(&last.diffsTold, mostTold+1) || int(e.told.Load()) != 7*mostTold {
		t.Errorf("when one has ended %d bytes are counted", e.told.Load())
	}
}
