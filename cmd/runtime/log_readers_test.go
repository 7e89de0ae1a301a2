package main

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// programProcess is a process of this program, that is to be run.
func programProcess(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, self)
	cmd.Args = append([]string{"runtime"}, args...) // by which TestMain knows it
	return cmd
}

// unread returns the writing end of a pipe that is full, or that nothing reads.
func unread(t *testing.T, full bool) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	if !full {
		_ = r.Close()
		return w
	}
	_ = w.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
	if n, err := w.Write(make([]byte, 2<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("a pipe takes %d bytes: %v", n, err)
	}
	return w
}

// TestTheReaderOfALogIsOutlived: what a program has to say at its end, which here comes soon,
// neither keeps it nor kills it.
func TestTheReaderOfALogIsOutlived(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := "RUNTIME_ADDR=" + l.Addr().String()
	for name, full := range map[string]bool{"it stands still": true, "it is gone": false} {
		for command, wrong := range map[string]string{"serve": taken, "channel": taken, "mcp": "RUNTIME_MAX_TURNS=many"} {
			t.Run(command+", "+name, func(t *testing.T) {
				cmd := programProcess(t, command)
				cmd.Env = []string{"HOME=" + t.TempDir(), wrong, "RUNTIME_MODEL=scripted",
					"WORKSPACE_ID=11111111-1111-4111-8111-111111111111", "PLATFORM_URL=http://127.0.0.1:9", "MOLECULE_WORKSPACE_TOKEN=token"}
				cmd.Stderr = unread(t, full)
				err := cmd.Run()
				if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != exitFailed {
					t.Errorf("%v, want exit code %d", err, exitFailed)
				}
			})
		}
	}
}

// TestACommandEndsWithItsReader, as a program in front of head does.
func TestACommandEndsWithItsReader(t *testing.T) {
	cmd := programProcess(t, "version")
	cmd.Stdout = unread(t, false)
	var said strings.Builder
	cmd.Stderr = &said
	err := cmd.Run()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGPIPE || said.Len() > 0 {
		t.Errorf("%v, want SIGPIPE: %s", err, &said)
	}
}

// TestChildrenEndWithTheirReaders: the commands of codex are not to outlive theirs.
func TestChildrenEndWithTheirReaders(t *testing.T) {
	defer outlivePipes()()
	err := exec.CommandContext(t.Context(), "sh", "-c", "kill -PIPE $$").Run()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGPIPE {
		t.Errorf("%v, want SIGPIPE", err)
	}
}
