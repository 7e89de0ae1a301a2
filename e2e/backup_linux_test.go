package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/progtest"
)

// uninterrupted counts the processes below a program that the system does not interrupt.
func uninterrupted(pid int) (n int) {
	for _, p := range progtest.Descendants(pid) {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p))
		if strings.Contains(string(status), "\nState:\tD") {
			n++
		}
	}
	return n
}

// TestBackupBesideHeldProcesses: commands that cannot be stopped, since each waits for what it
// has started as vfork does, keep nobody from a backup, nor does a file of any length that has
// nothing of the disk.
func TestBackupBesideHeldProcesses(t *testing.T) {
	t.Parallel()
	clone, known := map[string]int{"amd64": 56, "arm64": 220}[runtime.GOARCH]
	if !known {
		t.Skip("no number of clone for " + runtime.GOARCH)
	}
	p := start(t)
	const deep = 5
	p.send("m1", "one", fmt.Sprintf(`background perl -e 'for (1..%d) { last if syscall(%d, 0x4011, 0, 0, 0, 0) } sleep 1000'`, deep, clone))
	progtest.WaitFor(t, "processes that wait for their children", func() bool { return uninterrupted(p.Pid()) == deep })
	p.send("m2", "two", "run truncate -s 4T gap")
	cmd := exec.Command("sh", filepath.Join(codextest.Root(t), "deploy", "backup.sh"), p.State, p.State, p.Work)
	cmd.Env = append(os.Environ(), "BACKUP_LIMIT=60")
	var said bytes.Buffer
	cmd.Stderr = &said
	archive, err := cmd.Output()
	if err != nil || len(archive) == 0 {
		t.Errorf("%v: %s", err, said.String())
	}
	if got := text(p.send("m3", "two", "say after")); got != "after" {
		t.Errorf("afterwards it answers %q", got)
	}
}
