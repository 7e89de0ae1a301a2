package resident

import (
	"os"
	"os/exec"
	"testing"
)

// TestOf measures this process and a grandchild of it.
func TestOf(t *testing.T) {
	own, _, ok := Of(os.Getpid())
	if !ok || own < 1<<20 {
		t.Fatalf("this process has %d bytes, %t", own, ok)
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
	one, ok := memory(cmd.Process.Pid)
	if _, started, _ := Of(os.Getpid()); !ok || started < one || len(children(cmd.Process.Pid)) != 1 {
		t.Errorf("with a command of %d bytes and its child: %d bytes, %d children", one, started, len(children(cmd.Process.Pid)))
	}
	if _, _, ok := Of(1 << 30); ok {
		t.Error("a process that is not there was measured")
	}
}
