package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestCodexComesLate: a message whose sender does not wait runs when codex is there, which a blocking call
// is told that it is not.
func TestCodexComesLate(t *testing.T) {
	t.Parallel()
	codex := filepath.Join(codextest.Dir(t, "bin"), "codex")
	p := start(t, "CODEX_BIN="+codex)
	task := p.begin("m1", "one", "say late")
	progtest.WaitFor(t, "the message to wait", func() bool { return strings.Contains(p.Log(), "a message waits for codex") })
	if failed := p.send("m2", "one", "say never"); state(failed) != "TASK_STATE_FAILED" || at(failed, "metadata", "failure", "kind") != "unreachable" {
		t.Errorf("a blocking call is answered %v", failed["status"])
	}
	if err := os.Symlink(codextest.Bin(t), codex); err != nil {
		t.Fatal(err)
	}
	if end := p.ended(task["id"]); state(end) != "TASK_STATE_COMPLETED" || text(end) != "late" {
		t.Errorf("%v: %q", end["status"], text(end))
	}
}
