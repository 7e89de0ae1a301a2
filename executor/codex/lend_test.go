package codex_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
)

// A library lends other words than it is given, and counts what is out.
type library struct {
	mu        sync.Mutex
	lent, out int
}

func (l *library) lend(_ context.Context, input []agent.Input) ([]agent.Input, func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lent, l.out = l.lent+1, l.out+1
	lent := make([]agent.Input, 0, len(input))
	for _, in := range input {
		lent = append(lent, agent.Text(strings.ReplaceAll(in.Text, "written", "lent")))
	}
	return lent, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.out--
	}
}

// has returns how often something was lent, and how much of it is out.
func (l *library) has() [2]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return [2]int{l.lent, l.out}
}

// TestLend gives codex what is lent, for a turn of its own and for one that the message is
// handed to, until the turn has ended.
func TestLend(t *testing.T) {
	t.Parallel()
	model := modeltest.Start(t, fakemodel.Keywords)
	cfg := codexConfig(t, model)
	e := running(t, cfg)
	var own, handed library
	w, s := &witness{ended: make(chan agent.Ended, 1)}, &witness{ended: make(chan agent.Ended, 1)}
	job := executor.Job{ID: "own", Context: "one", Input: []agent.Input{agent.Text("say as written\n" + runUntilTaken)}, Lend: own.lend}
	if _, err := e.Submit(job, w.observe); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the command", func() bool { return commandRuns(w) })
	job = executor.Job{ID: "handed", Context: "one", Input: []agent.Input{agent.Text("say handed as written")}, Lend: handed.lend}
	if err := e.Steer("own", job, s.observe); err != nil {
		t.Fatal(err)
	}
	eventually(t, "codex to take it", steered(s))
	if own.has() != [2]int{1, 1} || handed.has() != [2]int{1, 1} {
		t.Errorf("while the turn runs: %v, %v", own.has(), handed.has())
	}
	takenUp(t, cfg)
	wantTaken(t, w.wait(t), agent.Completed, "handed")
	eventually(t, "all to be given back", func() bool { return own.has() == [2]int{1, 0} && handed.has() == [2]int{1, 0} })
	for _, said := range []string{"say as lent", "say handed as lent"} {
		if all := model.Requests(); !strings.Contains(string(all[len(all)-1].Body), said) {
			t.Errorf("the model was not told %q", said)
		}
	}
}
