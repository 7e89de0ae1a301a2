package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestMachinesRefused: without its token, and with another certificate than the one that is expected, a machine is not used: the
// message waits for as long as it may, and says that there is none; the log says why, and what to do.
func TestMachinesRefused(t *testing.T) {
	t.Parallel()
	work := codextest.Dir(t, "work")
	m := startMember(t, "m1", work)
	url, _, _ := strings.Cut(m.at, "#")
	for name, c := range map[string]struct{ at, token, want string }{
		"token":       {m.at, "another-token-of-16", "RUNTIME_MACHINES_TOKEN_FILE, must be what runtime machine token prints there"},
		"certificate": {url + "#sha256:" + strings.Repeat("0", 64), machinesToken, "shows another certificate than the one whose fingerprint stands in RUNTIME_MACHINES"},
		"authority":   {url, machinesToken, "certificate signed by unknown authority"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, "RUNTIME_WORKDIR="+work, "RUNTIME_MACHINES="+c.at, "RUNTIME_MACHINES_TOKEN="+c.token, "RUNTIME_MACHINES_WAIT=1s")
			progtest.WaitFor(t, "the log to say why", func() bool { return strings.Contains(p.Log(), c.want) })
			task := p.send("1", "one", "run touch ran")
			if state(task) != "TASK_STATE_FAILED" || !strings.Contains(fmt.Sprint(task["status"]), "no machine is up") {
				t.Errorf("it is %v", task["status"])
			}
			if _, err := os.Stat(filepath.Join(work, "ran")); err == nil {
				t.Error("the command ran")
			}
		})
	}
}

// TestMachineFolders: on a machine commands of one conversation cannot write what is another's.
func TestMachineFolders(t *testing.T) {
	t.Parallel()
	p, _ := startWithGit(t, "m1")
	one := fmt.Sprint(at(p.send("1", "one", "run echo mine > a"), "metadata", "cwd"))
	task := p.send("2", "two", "run echo theirs > "+one+"/a; echo theirs > "+one+"/b; ls "+filepath.Dir(one)+"/.. > /dev/null; echo own > c && cat c")
	if got := text(task); !strings.Contains(got, "Read-only file system") || !strings.HasSuffix(got, "own") {
		t.Errorf("it says %q", got)
	}
	if had, err := os.ReadFile(filepath.Join(one, "a")); string(had) != "mine\n" {
		t.Errorf("the other's file has %q, %v", had, err)
	}
}
