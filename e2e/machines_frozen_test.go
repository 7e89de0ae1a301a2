package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestMemberFrozen: a machine that is frozen for longer than it is waited for has lost its turn; where it is back before it
// would end that by itself, it ends it before it does anything else, and the next message runs there alone.
func TestMemberFrozen(t *testing.T) {
	t.Parallel()
	p, machines := startOnMachines(t, []string{"m1"})
	p.send("1", "one", "run true")
	cut := p.begin("2", "one", "run while sleep 0.05; do echo beat >> beats; done")["id"]
	progtest.WaitFor(t, "the command to begin", func() bool { _, err := os.Stat(filepath.Join(p.Work, "beats")); return err == nil })
	m := machines["m1"]
	m.Signal(syscall.SIGSTOP)
	task := p.ended(cut)
	if state(task) != "TASK_STATE_FAILED" || !strings.Contains(fmt.Sprint(task["status"]), "it ends what runs for this runtime") {
		t.Errorf("the turn on a frozen machine: %v", task["status"])
	}
	m.Signal(syscall.SIGCONT)
	if task := p.send("3", "one", "run : > beats; sleep 1; test -s beats && echo beside it || echo alone"); text(task) != "alone" || on(task) != "m1" {
		t.Errorf("on %s: %v, %q", on(task), task["status"], text(task))
	}
}
