package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// leaseEnv names the file that a copy of this binary takes a lease on, in [takeLease].
const leaseEnv = "E2E_LEASE"

// takeLease holds a file for as long as there is no file let-go.
func takeLease(path string) {
	f, err := os.Open(path)
	if err != nil {
		panic(err)
	}
	for { // not while another has it open
		if _, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := os.WriteFile("runs", nil, 0o600); err != nil {
		panic(err)
	}
	for {
		if _, err := os.Stat("let-go"); err == nil {
			os.Exit(0)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// TestLeaseOnTheSecret: a command in the sandbox that holds the platform's inbound secret does
// not shut the platform out.
func TestLeaseOnTheSecret(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := startWorkspace(t, "CODEX_SANDBOX=workspace-write")
	blocks := w.blocker()
	held := filepath.Join(w.configs, ".platform_inbound_secret")
	id := w.begin("m1", "one", fmt.Sprintf("run %s=%s %s", leaseEnv, held, self))["id"]
	blocks.runs()
	if f, err := os.OpenFile(held, os.O_RDONLY|unix.O_NONBLOCK, 0); err == nil {
		_ = f.Close()
		t.Error("the command does not hold it")
	}
	if status, said := w.route(http.MethodGet, "/internal/a2a-auth-status", inboundSecret, "", nil); status != http.StatusOK {
		t.Errorf("while it is held: %d %s", status, said)
	}
	blocks.letGo()
	if task := w.ended(id); state(task) != "TASK_STATE_COMPLETED" {
		t.Errorf("the command's task: %v", task)
	}
	if status, _ := w.route(http.MethodGet, "/internal/a2a-auth-status", inboundSecret, "", nil); status != http.StatusOK {
		t.Errorf("afterwards: %d", status)
	}
}
