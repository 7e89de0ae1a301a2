package fence

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestSecretsBeside finds them in the environment of a process that stands anywhere, and not
// in that of one that this one has started.
func TestSecretsBeside(t *testing.T) {
	const secret = "value-of-a-planted-secret"
	known := func(s string) string { return strings.ReplaceAll(s, secret, "***") }
	own := exec.CommandContext(t.Context(), "sleep", "300")
	own.Env = []string{"OWN=" + secret}
	if err := own.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = own.Process.Kill()
		_ = own.Wait()
	}()
	if found := InEnviron(Everyone(), known); found != "" {
		t.Errorf("of its own: %s", found)
	}
	out, err := exec.CommandContext(t.Context(), "sh", "-c", "PLANTED="+secret+" sleep 300 >/dev/null 2>&1 & echo $!").Output()
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
	progtest.WaitFor(t, "the process to be itself", func() bool {
		command, _ := parentOf(pid)
		return command == "sleep"
	})
	if found, want := InEnviron(Everyone(), known), fmt.Sprintf("process %d (sleep) has PLANTED", pid); found != want {
		t.Errorf("%q, want %q", found, want)
	}
	if found := InEnviron([]int{os.Getpid()}, known); found != "" {
		t.Errorf("without one: %s", found)
	}
}
