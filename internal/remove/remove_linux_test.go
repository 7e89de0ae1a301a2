package remove_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/remove"
)

// TestWhatStays says why, and takes the rest with it.
func TestWhatStays(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("this takes root")
	}
	path := filepath.Join(t.TempDir(), "x")
	kept := filepath.Join(path, "a/b/kept")
	if err := errors.Join(os.MkdirAll(kept, 0o700), os.MkdirAll(filepath.Join(path, "c/d"), 0o700), unix.Mount("none", kept, "tmpfs", 0, "size=64k")); err != nil {
		t.Skip("this takes root that may mount: ", err)
	}
	t.Cleanup(func() {
		_ = filepath.WalkDir(path, func(name string, _ fs.DirEntry, _ error) error {
			_ = unix.Unmount(name, unix.MNT_DETACH)
			return nil
		})
	})
	if err := remove.All(path); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("%v", err)
	}
	if left, err := os.ReadDir(path); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
}
