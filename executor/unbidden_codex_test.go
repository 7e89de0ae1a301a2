package executor_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
)

// TestTurnsOfNobody: what somebody puts into codex's own queue is no message of the conversation's:
// the turn that codex begins for it is ended, and the next message has one of its own.
func TestTurnsOfNobody(t *testing.T) {
	t.Parallel()
	model := modeltest.Start(t, fakemodel.Keywords)
	var home string
	var wire lockedBuffer
	e := onCodex(t, model, func(c *executor.Config) { home, c.Child.Wire = homeOf(*c), &wire })
	w := submit(t, e, "j1", "one", "say hello")
	w.wait(t)
	queue := exec.Command(codextest.Bin(t), "queue", "--thread", seen[executor.Started](w)[0].ThreadID, "--message", "hang QUEUED")
	queue.Env = []string{"CODEX_HOME=" + home, "PATH=/usr/bin:/bin", "HOME=" + home}
	if out, err := queue.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	eventually(t, "the turn to be ended", func() bool { return strings.Contains(wire.String(), `"status":"interrupted"`) })
	if end := submit(t, e, "j2", "one", "say next").wait(t); end.Outcome != executor.Completed || said(end) != "next" {
		t.Errorf("the next message ends with %+v", end)
	}
}
