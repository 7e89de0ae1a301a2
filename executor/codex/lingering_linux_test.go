package codex_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestThreadsDoNotLinger: codex keeps a thread loaded for a minute behind its unloading, with open
// files, and has so no more of them than a number, however many conversations come one after the
// other. They go on as before.
func TestThreadsDoNotLinger(t *testing.T) {
	t.Parallel()
	var wire lockedBuffer
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), func(c *config) { c.MaxThreads, c.MaxLingering, c.Child.Wire = 1, 6, &wire })
	const many = 20
	for i := range many {
		submit(t, e, fmt.Sprintf("a%d", i), fmt.Sprint(i), fmt.Sprintf("remember word-%d.", i)).wait(t)
	}
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", e.Health().Child.Pid))
	if err != nil {
		t.Fatal(err)
	}
	loaded := map[string]bool{}
	for _, file := range files {
		if name, _ := os.Readlink(file); strings.Contains(name, "rollout-") {
			loaded[name] = true
		}
	}
	if len(loaded) > many-6 || !strings.Contains(wire.String(), `"thread/archive"`) {
		t.Errorf("codex has the files of %d threads open", len(loaded))
	}
	for _, i := range []int{0, many - 2} {
		if got := said(submit(t, e, fmt.Sprintf("b%d", i), fmt.Sprint(i), "recall").wait(t)); !strings.Contains(got, fmt.Sprintf("word-%d.", i)) {
			t.Errorf("conversation %d recalls %q", i, got)
		}
	}
}

// TestSubagentsStayWhereThreadsDoNotLinger: what others do in conversations of their own ends no
// subagent that goes on after its turn, and what other agents do unloads none of the user's at once.
func TestSubagentsStayWhereThreadsDoNotLinger(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	var wire lockedBuffer
	e := onCodex(t, modeltest.Start(t, spawning), func(c *config) { c.MaxThreads, c.MaxLingering, c.Child.Wire = 1, 6, &wire })
	others := func(from, to int) {
		for i := from; i < to; i++ {
			submit(t, e, fmt.Sprintf("p%d", i), fmt.Sprint(i), "say x").wait(t)
		}
	}
	peers := func(from, to int) {
		for i := from; i < to; i++ {
			id := fmt.Sprint("peer", i)
			submitJob(t, e, executor.Job{ID: id, Context: id, Peer: true, Input: []agent.Input{agent.Text("say x")}}).wait(t)
		}
	}
	peers(0, 9)
	unloaded := strings.Count(wire.String(), `"thread/archive"`)
	if unloaded == 0 {
		t.Error("no thread of an agent's was unloaded at once")
	}
	others(0, 3)
	if n := strings.Count(wire.String(), `"thread/archive"`); n > unloaded+1 { // the last one of an agent's
		t.Error("a thread was unloaded at once for those of other agents")
	}
	others(3, 9)
	file := filepath.Join(codextest.Dir(t, "lines"), "file.33")
	wantEnd(t, submit(t, e, "j1", "user", "spawn once "+file).wait(t), agent.Completed, "")
	others(9, 13)
	if !strings.Contains(wire.String(), `"thread/archive"`) {
		t.Error("no thread was unloaded at once")
	}
	before := lines(file)
	progtest.WaitFor(t, "the subagent to go on", func() bool { return lines(file) > before+2 })
}
