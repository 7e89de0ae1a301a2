// Package progtest builds the program and runs it for tests and benchmarks, with
// a codex home, a state and a working directory of its own, and checks that
// nothing of it is left.
package progtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// Patience bounds every wait. It is long enough for a busy machine; reaching it is a failure.
const Patience = 3 * time.Minute

// Main builds the program, calls run with its path, and removes it. It is for
// TestMain: os.Exit(progtest.Main(…)).
func Main(run func(binary string) int) int {
	if _, err := codextest.Scratch(); err != nil { // each test would say so
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	dir, err := os.MkdirTemp("", "runtime-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "runtime")
	build := exec.Command("go", "build", "-trimpath", "-o", binary, "github.com/Molecule-AI/molecule-codex-runtime/cmd/runtime")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return run(binary)
}

// Environ returns the environment of a user who has nothing set: the login
// shells in which codex runs commands read no profile of this machine's user.
func Environ(tb testing.TB) []string {
	tb.Helper()
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + codextest.Dir(tb, "user"), "TMPDIR=" + os.TempDir()}
}

// follow keeps the log and finds the address in it; then it reaps the program.
func (p *Program) follow(stderr io.Reader, listening chan<- string) {
	lines := bufio.NewScanner(stderr)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		p.mu.Lock()
		p.log.Write(append(lines.Bytes(), '\n'))
		p.mu.Unlock()
		var line struct{ Msg, Addr string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "listening" {
			listening <- line.Addr
		}
	}
	_ = p.cmd.Wait()
	close(p.exited)
}

// Log returns what the program has logged so far.
func (p *Program) Log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// Forget drops what has been logged so far.
func (p *Program) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log = bytes.Buffer{}
}

// Pid returns the program's process id.
func (p *Program) Pid() int { return p.cmd.Process.Pid }

// Exited is closed when the program has ended.
func (p *Program) Exited() <-chan struct{} { return p.exited }

// ExitCode waits until the program has ended by itself, and returns its code.
func (p *Program) ExitCode() int {
	p.tb.Helper()
	select {
	case <-p.exited:
	case <-time.After(Patience):
		p.tb.Fatal("the program does not end")
	}
	return p.cmd.ProcessState.ExitCode()
}

// Signal sends the program a signal.
func (p *Program) Signal(sig syscall.Signal) {
	p.tb.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		p.tb.Errorf("signal %v: %v", sig, err)
	}
}

// Kill ends the program as the platform does, with SIGKILL, and waits for its
// end. It does not look for what is left: that is for the next one to end.
func (p *Program) Kill() {
	p.ending.Do(func() {
		_ = p.cmd.Process.Kill()
		<-p.exited
	})
}

// Stop stops the program as an operator would, and checks that nothing is left.
// It is done at the end of the test, unless that one or Kill was done before.
func (p *Program) Stop() { p.ending.Do(p.end) }

func (p *Program) end() {
	select {
	case <-p.exited:
		return
	default:
	}
	family := Descendants(p.Pid())
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(time.Minute): // what deploy/ gives it is a third of that
		_ = p.cmd.Process.Kill()
		<-p.exited
		p.tb.Error("the program has not ended a minute after SIGTERM")
	}
	for _, pid := range family {
		WaitFor(p.tb, fmt.Sprintf("process %d of the program to be gone", pid), func() bool { return !Alive(pid) })
	}
}

// Child returns the process id of the codex child, waiting for it.
func (p *Program) Child() int {
	p.tb.Helper()
	var pid int
	WaitFor(p.tb, "codex to run", func() bool {
		pid = p.Codex()
		return pid != 0
	})
	return pid
}

// Codex returns the process id of the codex child, or 0 while there is none.
func (p *Program) Codex() int {
	for _, candidate := range children(p.Pid()) {
		name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", candidate))
		if strings.HasPrefix(string(name), "codex") && Alive(candidate) {
			return candidate
		}
	}
	return 0
}

// WaitFor looks until ok holds, and fails the test if it never does. It looks less often the longer that
// takes: most of what is asked is a request, and other tests want the cores.
func WaitFor(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	deadline := time.Now().Add(Patience)
	for pause := 5 * time.Millisecond; !ok(); pause = min(pause*5/4, 25*time.Millisecond) {
		if time.Now().After(deadline) {
			tb.Fatalf("waited %s in vain for %s", Patience, what)
		}
		time.Sleep(pause)
	}
}
