package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestTheSecondSignalEndsAtOnce(t *testing.T) {
	exited := make(chan int, 1)
	ctx, release := interruptible(t.Context(), func(code int) { exited <- code })
	defer release()
	signal := func() {
		if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	signal()
	select {
	case <-ctx.Done():
	case <-time.After(time.Minute):
		t.Fatal("the first signal did not end the context")
	}
	select {
	case <-exited:
		t.Fatal("the first signal ended the program")
	default:
	}
	signal()
	select {
	case code := <-exited:
		if code != exitInterrupted {
			t.Errorf("exit(%d)", code)
		}
	case <-time.After(time.Minute):
		t.Fatal("the second signal did not end the program")
	}
}

func TestServeSaysWhyItCannotListen(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var out, errs bytes.Buffer
	code := run(context.Background(), nil, []string{"HOME=" + t.TempDir(), "RUNTIME_ADDR=" + l.Addr().String(), "RUNTIME_MODEL=scripted"}, nil, &out, &errs)
	if code != exitFailed || !strings.Contains(errs.String(), "RUNTIME_ADDR") || !strings.Contains(errs.String(), "hint: runtime doctor") {
		t.Errorf("run = %d: %s", code, errs.String())
	}
}

// TestErrorsAreShownAsTheyAre: an error may quote a file that others have written.
func TestErrorsAreShownAsTheyAre(t *testing.T) {
	var b bytes.Buffer
	(&program{stderr: &b}).complain("no \x1b[2J\u202e\x9b", "see \x07")
	if got, want := b.String(), `runtime: no \x1b[2J\u202e\x9b`+"\n"+`  hint: see \a`+"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestWhatCannotBePrinted is not taken for a whole answer.
func TestWhatCannotBePrinted(t *testing.T) {
	for _, args := range []string{"--help", "task --help", "version", "version --json", "connect --template"} {
		var errs bytes.Buffer
		if code := run(t.Context(), strings.Fields(args), nil, nil, fullDisk{}, &errs); code != exitFailed || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("runtime %s: %d, %s", args, code, errs.String())
		}
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestDoctorInterrupted has not found that a turn would run.
func TestDoctorInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	code := run(ctx, []string{"doctor"}, []string{"HOME=" + t.TempDir(), "RUNTIME_MODEL=scripted", "TMPDIR=" + t.TempDir()}, nil, &out, &errs)
	if code != exitFailed || out.Len() > 0 || !strings.Contains(errs.String(), "interrupted") {
		t.Errorf("%d: %s%s", code, out.String(), errs.String())
	}
}
