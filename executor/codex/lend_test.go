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

// TestLendAgain: each attempt is lent its own, and what codex dies with is given back.
func TestLendAgain(t *testing.T) {
	t.Parallel()
	var l library
	e := onFake(t, "", nil)
	w := &witness{ended: make(chan agent.Ended, 1)}
	job := executor.Job{ID: "j1", Context: "one", Input: []agent.Input{agent.Text("!die-early 3")}, Lend: l.lend}
	if _, err := e.Submit(job, w.observe); err != nil {
		t.Fatal(err)
	}
	w.wait(t)
	if has := l.has(); has[0] < 2 || has[1] != 0 {
		t.Errorf("lent %d times, and %d are out", has[0], has[1])
	}
}

// TestCancelWhileLent: a cancel does not wait until all is lent, codex is not asked, and
// what was lent is given back.
func TestCancelWhileLent(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", nil)
	w := &witness{ended: make(chan agent.Ended, 1)}
	begun, back := make(chan struct{}), make(chan struct{})
	lend := func(ctx context.Context, input []agent.Input) ([]agent.Input, func()) {
		close(begun)
		<-ctx.Done()
		return input, func() { close(back) }
	}
	job := executor.Job{ID: "j1", Context: "one", Input: []agent.Input{agent.Text("say hello")}, Lend: lend}
	if _, err := e.Submit(job, w.observe); err != nil {
		t.Fatal(err)
	}
	<-begun
	if err := e.Cancel(t.Context(), "j1"); err != nil {
		t.Fatal(err)
	}
	if end := w.wait(t); end.Outcome != agent.Canceled {
		t.Errorf("%+v", end)
	}
	<-back
	if len(seen[agent.Started](w)) > 0 {
		t.Error("codex was given the message")
	}
}

// TestTurnEndsWhileLent: the end of a turn does not wait until all is lent of a message that
// is handed to it.
func TestTurnEndsWhileLent(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", nil)
	w, s := &witness{ended: make(chan agent.Ended, 1)}, &witness{ended: make(chan agent.Ended, 1)}
	if _, err := e.Submit(executor.Job{ID: "own", Context: "one", Input: []agent.Input{agent.Text("!hang")}}, w.observe); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the turn", func() bool { return len(seen[agent.Started](w)) == 1 })
	begun := make(chan struct{}, 9)
	lend := func(ctx context.Context, input []agent.Input) ([]agent.Input, func()) {
		begun <- struct{}{}
		<-ctx.Done()
		return input, func() {}
	}
	if err := e.Steer("own", executor.Job{ID: "handed", Context: "one", Input: []agent.Input{agent.Text("more")}, Lend: lend}, s.observe); err != nil {
		t.Fatal(err)
	}
	<-begun
	if err := e.Cancel(t.Context(), "own"); err != nil {
		t.Fatal(err)
	}
	if end := w.wait(t); end.Outcome != agent.Canceled {
		t.Errorf("%+v", end)
	}
}
