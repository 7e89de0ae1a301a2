package appserver

import (
	"os"
	"os/exec"
	"testing"
)

// TestMemoryOf measures this process and a grandchild of it.
func TestMemoryOf(t *testing.T) {
	before, ok := MemoryOf(os.Getpid())
	if !ok || before.Codex < 1<<20 {
		t.Fatalf("this process has %+v, %t", before, ok)
	}
	cmd := exec.Command("sh", "-c", "sh -c 'echo ready; read x; exit 0'; true")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	}()
	if _, err := stdout.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	one, ok := resident(cmd.Process.Pid)
	if m, _ := MemoryOf(os.Getpid()); !ok || m.Commands < one || len(children(cmd.Process.Pid)) != 1 {
		t.Errorf("with a command of %d bytes and its child: %+v, %d children", one, m, len(children(cmd.Process.Pid)))
	}
	if _, ok := MemoryOf(1 << 30); ok {
		t.Error("a process that is not there was measured")
	}
}
