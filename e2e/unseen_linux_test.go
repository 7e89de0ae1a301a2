package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
	"golang.org/x/sys/unix"
)

// hidingEnv names the file that a copy of this binary writes its id to, in [hide].
const hidingEnv = "E2E_HIDE"

// hide is a process that others of its user cannot look into. It ends by itself, should a
// test not end it.
func hide(file string) {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		panic(err)
	}
	if err := os.WriteFile(file+".new", []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		panic(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		panic(err)
	}
	time.Sleep(5 * time.Minute)
	os.Exit(0)
}

// TestWhatACancelMisses: without a sandbox, a command that means to outlives its turn, in
// the ways that docs/security.md names, and no other does.
func TestWhatACancelMisses(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := startAs(t, exe, fencedEnv+"="+binary, "CODEX_SANDBOX=danger-full-access")
	hidden := filepath.Join(p.Work, "hidden")
	id := p.begin("m1", "one", fmt.Sprintf(
		"run setsid sleep 65.5 & setsid env -i sleep 66.5 & %s=%s %s=%s setsid %s & sleep 67.5", fencedEnv, "", hidingEnv, hidden, exe))["id"]
	var stray, emptied, hides int
	progtest.WaitFor(t, "the commands to run", func() bool {
		stray, emptied = progtest.Find(p.Child(), "sleep 65.5"), progtest.Find(p.Child(), "sleep 66.5")
		written, _ := os.ReadFile(hidden)
		hides, _ = strconv.Atoi(string(written))
		return stray != 0 && emptied != 0 && hides != 0
	})
	defer func() {
		for _, pid := range []int{emptied, hides} {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			progtest.WaitFor(t, "the command to end", func() bool { return !progtest.Alive(pid) })
		}
	}()
	task, _ := p.call("CancelTask", object{"id": id})["result"].(object)
	if state(task) != "TASK_STATE_CANCELED" || progtest.Alive(stray) {
		t.Errorf("after the cancel: %s, stray %v", state(task), progtest.Alive(stray))
	}
	if !progtest.Alive(emptied) || !progtest.Alive(hides) {
		t.Errorf("they are found after all, and docs/security.md can say so: without an environment %v, hidden %v",
			!progtest.Alive(emptied), !progtest.Alive(hides))
	}
}
