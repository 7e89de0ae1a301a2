package remove_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/remove"
)

// nested makes folders in one another, and a file in each.
func nested(t *testing.T, path string, deep int) {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	at, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for range deep {
		made := errors.Join(unix.Mkdirat(at, "d", 0o700), unix.Symlinkat("/", at, "link"))
		next, err := unix.Openat(at, "d", unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if err := errors.Join(made, err, unix.Close(at)); err != nil {
			t.Fatal(err)
		}
		at = next
	}
	if err := unix.Close(at); err != nil {
		t.Fatal(err)
	}
}

// fewFiles lets this process open no more than so many files, until the test ends.
func fewFiles(t *testing.T, most uint64) {
	t.Helper()
	var was, few unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	few = was
	few.Cur = most
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Setrlimit(unix.RLIMIT_NOFILE, &was) })
}

// TestFoldersInFolders are removed without having them all open.
func TestFoldersInFolders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep")
	nested(t, path, 500)
	fewFiles(t, 100)
	if err := remove.All(path); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it stands there: %v", err)
	}
}

func TestAll(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "kept")
	write := func(path string) error { return os.WriteFile(path, nil, 0o600) }
	for name, put := range map[string]func(path string) error{
		"none":   func(string) error { return nil },
		"file":   write,
		"link":   func(path string) error { return os.Symlink(filepath.Dir(outside), path) },
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"folder": func(path string) error { return os.Mkdir(path, 0) },
		"wide": func(path string) error {
			err := os.Mkdir(path, 0o700)
			for i := range 1500 {
				err = errors.Join(err, write(filepath.Join(path, fmt.Sprint(i))))
			}
			return err
		},
		"tree": func(path string) error {
			var err error
			for _, below := range []string{"a/b/c", "a/d", "e/b/c/f", "g"} {
				below = filepath.Join(path, below)
				err = errors.Join(err, os.MkdirAll(below, 0o700), write(filepath.Join(below, "file")),
					os.Symlink(filepath.Dir(outside), filepath.Join(below, "link")), syscall.Mkfifo(filepath.Join(below, "pipe"), 0o600))
			}
			return errors.Join(err, os.Chmod(filepath.Join(path, "a/b"), 0o500), os.Chmod(filepath.Join(path, "e/b/c"), 0))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x")
			if err := errors.Join(write(outside), put(path)); err != nil {
				t.Fatal(err)
			}
			if err := remove.All(path); err != nil {
				t.Error(err)
			}
			if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) > 0 {
				t.Errorf("left: %v, %v", left, err)
			}
			if _, err := os.Lstat(outside); err != nil {
				t.Errorf("what a link leads to: %v", err)
			}
		})
	}
	if err := remove.All(filepath.Join(t.TempDir(), "none", "none")); err != nil {
		t.Errorf("in no folder: %v", err)
	}
}
