package executor_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
)

// TestThreadsDoNotLinger: codex keeps a thread loaded for a minute behind its unloading, with open
// files, and has so no more of them than a number, however many conversations come one after the
// other. They go on as before.
func TestThreadsDoNotLinger(t *testing.T) {
	t.Parallel()
	var wire lockedBuffer
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), func(c *executor.Config) { c.MaxThreads, c.Child.Wire = 1, &wire })
	const many = 50
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
	if len(loaded) > many-10 || !strings.Contains(wire.String(), `"thread/archive"`) {
		t.Errorf("codex has the files of %d threads open", len(loaded))
	}
	for _, i := range []int{0, many - 2} {
		if got := said(submit(t, e, fmt.Sprintf("b%d", i), fmt.Sprint(i), "recall").wait(t)); !strings.Contains(got, fmt.Sprintf("word-%d.", i)) {
			t.Errorf("conversation %d recalls %q", i, got)
		}
	}
}
