package codexlog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/codexlog"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
)

// What this program is started as, in place of the tests.
const (
	trimming = "trim"
	looking  = "look" // says what it is given
	talking  = "talk" // says much
	hanging  = "hang" // opens a pipe, and stays
)

func TestMain(m *testing.M) {
	mode := ""
	if len(os.Args) > 1 {
		mode = os.Args[1]
	}
	switch mode {
	case trimming:
		keep, _ := strconv.ParseInt(os.Args[3], 10, 64)
		os.Exit(codexlog.Work(context.Background(), os.Args[2], keep, os.Stdin, os.Stdout, os.Stderr))
	case looking:
		list, _ := io.ReadAll(os.Stdin)
		dir, _ := os.Getwd()
		fmt.Fprintf(os.Stderr, "uid=%d env=%q args=%q dir=%s stdin=%s\n", os.Getuid(), os.Environ(), os.Args, dir, list)
		os.Exit(1)
	case talking:
		for range 1000 {
			_, _ = os.Stderr.Write(bytes.Repeat([]byte("x"), 1<<16))
		}
		os.Exit(1)
	case hanging:
		if _, err := os.OpenFile(os.Args[2], os.O_WRONLY, 0); err == nil {
			_, _ = io.ReadAll(os.Stderr) // which is written to
			select {}
		}
	}
	leaktest.Main(m)
}

// users are those that a test can be done as.
func users(t *testing.T) map[string]*asuser.User {
	t.Helper()
	all := map[string]*asuser.User{"ours": nil}
	if os.Getuid() == 0 {
		other, err := asuser.Lookup("4242:4242")
		if err != nil {
			t.Fatal(err)
		}
		all["another"] = other
	}
	return all
}

// homeOf has something in the place of a log that is too large.
func homeOf(t *testing.T, u *asuser.User) (home string) {
	t.Helper()
	home = t.TempDir()
	for _, dir := range []string{filepath.Dir(home), home} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, "logs_2.sqlite"), []byte("log"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(home, int(u.Number()), -1); err != nil {
		t.Fatal(err)
	}
	return home
}

// TestProcess is the user's whose the home is, and has nothing of ours but the threads. This
// program lies where the other one cannot come.
func TestProcess(t *testing.T) {
	t.Setenv("OURS", "secret")
	for name, u := range users(t) {
		t.Run(name, func(t *testing.T) {
			home := homeOf(t, u)
			trimmer := trimmer(t, home, codexlog.Bounds{Rows: 7}, "one", "two")
			trimmer.User, trimmer.Args = u, []string{looking}
			if u != nil {
				trimmer.Program = "/proc/self/exe"
			}
			_, err := trimmer.Trim(t.Context())
			want := fmt.Sprintf(`uid=%d env=[] args=["runtime" "look" %q "7"] dir=/ stdin=["one","two"]`, u.Number(), filepath.Join(home, "logs_2.sqlite"))
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the process is %v, want %s", err, want)
			}
		})
	}
}

// TestProcessIsKilled when its time is over, whatever it waits for.
func TestProcessIsKilled(t *testing.T) {
	for name, u := range users(t) {
		t.Run(name, func(t *testing.T) {
			home := homeOf(t, u)
			pipe := filepath.Join(home, "pipe")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(pipe, 0o666); err != nil {
				t.Fatal(err)
			}
			trimmer := trimmer(t, home, codexlog.Bounds{})
			trimmer.User, trimmer.Args = u, []string{hanging, pipe}
			if u != nil {
				trimmer.Program = "/proc/self/exe"
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() {
				_, err := trimmer.Trim(ctx)
				ended <- err
			}()
			r, err := os.OpenFile(pipe, os.O_RDONLY, 0) // which waits for the process
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("Trim = %v", err)
			}
			if _, err := io.ReadAll(r); err != nil { // it ends with the process
				t.Error(err)
			}
		})
	}
}

// TestProcessThatTalks: what it says is its user's to choose.
func TestProcessThatTalks(t *testing.T) {
	trimmer := trimmer(t, homeOf(t, nil), codexlog.Bounds{})
	trimmer.Args = []string{talking}
	if _, err := trimmer.Trim(t.Context()); err == nil || len(err.Error()) > 2<<10 {
		t.Errorf("Trim = %.100v …", err)
	}
}

// TestProgramOfOurs: what only we may run is not run.
func TestProgramOfOurs(t *testing.T) {
	other := users(t)["another"]
	if other == nil {
		t.Skip("this takes root")
	}
	trimmer := trimmer(t, homeOf(t, other), codexlog.Bounds{})
	trimmer.User, trimmer.Program = other, filepath.Join(t.TempDir(), "runtime")
	if err := os.WriteFile(trimmer.Program, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := trimmer.Trim(t.Context()); !errors.Is(err, codexlog.ErrNotRun) {
		t.Errorf("Trim = %v", err)
	}
}
