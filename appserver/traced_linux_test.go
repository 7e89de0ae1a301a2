package appserver_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// tracerEnv has the test binary trace a process, and keep it when it has died.
const tracerEnv = "APPSERVER_TEST_TRACES"

var _ = beTracer()

func beTracer() (none struct{}) {
	if os.Getenv(tracerEnv) == "" {
		return none
	}
	runtime.LockOSThread()
	pid, _ := strconv.Atoi(os.Getenv(tracerEnv))
	const seize = 0x4206 // PTRACE_SEIZE
	if _, _, errno := syscall.Syscall6(syscall.SYS_PTRACE, seize, uintptr(pid), 0, 0, 0, 0); errno != 0 {
		fmt.Println("refused")
		os.Exit(0)
	}
	fmt.Println("traces")
	_, _ = os.Stdin.Read(make([]byte, 1))
	os.Exit(0)
	return none
}

// TestTracedChild: a process that traces the child, and does not reap it, keeps nobody from knowing
// that it has ended.
func TestTracedChild(t *testing.T) {
	c := start(t, "")
	tracer := exec.Command(os.Args[0])
	tracer.Env = append(os.Environ(), fmt.Sprintf("%s=%d", tracerEnv, c.Pid()))
	said, err := tracer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	lives, err := tracer.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := tracer.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = lives.Close()
		_ = tracer.Wait()
	}()
	if line, _ := bufio.NewReader(said).ReadString('\n'); strings.TrimSpace(line) != "traces" {
		t.Skip("nobody may trace another process here")
	}
	if err := unix.Kill(c.Pid(), unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-c.Done():
	case <-patient(t).Done():
		t.Error("it is not known that the child has ended")
	}
}
