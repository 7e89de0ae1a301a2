package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

func openTemp(t *testing.T, s settings.Settings) *codexTemp {
	t.Helper()
	temp, err := openCodexTemp(s)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(temp.path); err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	return temp
}

// TestDirectoryThatIsStillWritten: what a killed codex has started writes into its directory
// for a moment longer, which keeps no start from going on. Any other fault does.
func TestDirectoryThatIsStillWritten(t *testing.T) {
	written := &fs.PathError{Op: "unlinkat", Path: "mounts", Err: syscall.ENOTEMPTY}
	for want, faults := range map[error][]error{nil: {written, written, nil}, fs.ErrPermission: {written, fs.ErrPermission, nil}} {
		err := patiently(func() (err error) {
			err, faults = faults[0], faults[1:]
			return err
		})
		if !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
}

func TestCodexTemp(t *testing.T) {
	s := settings.Settings{TempDir: t.TempDir(), StateDir: "/state"}
	first := openTemp(t, s)
	file := filepath.Join(first.path, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_ = first.lock.Close() // as a kill does
	again := openTemp(t, s)
	if _, err := os.Lstat(file); again.path != first.path || err == nil {
		t.Errorf("%s after %s, and what was left there: %v", again.path, first.path, err)
	}
	if err := os.Remove(again.path); err != nil { // what tidies the temp directory
		t.Fatal(err)
	}
	if err := again.keep(); err != nil {
		t.Error(err)
	}
	other := openTemp(t, settings.Settings{TempDir: s.TempDir, StateDir: "/another"})
	if other.path == again.path {
		t.Error("two state directories share one")
	}
	for _, temp := range []*codexTemp{again, other} {
		if err := temp.Close(); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(s.TempDir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestCodexTempThatIsTaken: a name that is a link of another user's, or in use, is not
// taken, and nothing below it is touched.
func TestCodexTempThatIsTaken(t *testing.T) {
	s := settings.Settings{TempDir: t.TempDir(), StateDir: "/state"}
	inUse := openTemp(t, s)
	kept := filepath.Join(inUse.path, "kept")
	if err := os.WriteFile(kept, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	beside := openTemp(t, s)
	if _, err := os.Lstat(kept); err != nil || beside.path == inUse.path {
		t.Errorf("%s beside %s: %v", beside.path, inUse.path, err)
	}
	_ = beside.Close()
	_ = inUse.Close()

	target := t.TempDir()
	if err := os.WriteFile(filepath.Join(target, "kept"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, inUse.path); err != nil {
		t.Fatal(err)
	}
	linked := openTemp(t, s)
	defer func() { _ = linked.Close() }()
	if _, err := os.Lstat(filepath.Join(target, "kept")); err != nil || linked.path == inUse.path {
		t.Errorf("%s: %v", linked.path, err)
	}
}
