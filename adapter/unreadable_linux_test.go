package adapter

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestUnreadableSettings: what the check cannot read codex cannot read either.
func TestUnreadableSettings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	if why := unreadable(path); why != "" {
		t.Errorf("what is not there: %s", why)
	}
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if why := unreadable(path); why != "" {
		t.Errorf("an empty file: %s", why)
	}
	held, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if _, err := unix.FcntlInt(held.Fd(), unix.F_SETLEASE, unix.F_WRLCK); errors.Is(err, unix.EINVAL) {
		t.Skip("this file system has no leases")
	} else if err != nil {
		t.Fatal(err)
	}
	if why := unreadable(path); !strings.Contains(why, "cannot be read") {
		t.Errorf("a file that another process holds: %q", why)
	}
}

// TestPipeInTheWorkDirectory is what codex's own git waits at.
func TestPipeInTheWorkDirectory(t *testing.T) {
	l := Launch{WorkDir: t.TempDir()}
	if got := l.Pipe(); got != "" {
		t.Errorf("%s is said to be one", got)
	}
	for _, name := range []string{"commondir", "HEAD"} {
		pipe := filepath.Join(l.WorkDir, name)
		if err := unix.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := l.Pipe(); got != pipe {
			t.Errorf("got %q, want %s", got, pipe)
		}
	}
	if err := errors.Join(os.Mkdir(filepath.Join(l.WorkDir, ".git"), 0o700), os.WriteFile(filepath.Join(l.WorkDir, ".git/HEAD"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if got := l.Pipe(); got != "" {
		t.Errorf("in the root of a repository it is %s", got)
	}
}
