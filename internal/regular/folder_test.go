package regular

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a3", "b", "a1", "a2"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	wanted := func(name string) bool { return strings.HasPrefix(name, "a") }
	if names, err := Names(dir, 3, wanted); !slices.Equal(names, []string{"a1", "a2", "a3"}) || err != nil {
		t.Errorf("%q, %v", names, err)
	}
	if names, err := Names(dir, 2, wanted); len(names) != 2 || !errors.Is(err, ErrMany) {
		t.Errorf("more than were asked for: %q, %v", names, err)
	}
	if names, err := Names(dir, 4, All); len(names) != 4 || err != nil {
		t.Errorf("all: %q, %v", names, err)
	}
	if names, err := Names(filepath.Join(dir, "none"), 1, wanted); names != nil || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of no folder: %q, %v", names, err)
	}
}

// TestPlaceOfAFolder: what stands in a folder's place is not opened.
func TestPlaceOfAFolder(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.Mkdir(filepath.Join(dir, "folder"), 0o700)); err != nil {
		t.Fatal(err)
	}
	root, err := Root(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if in, err := RootIn(root, "folder"); err != nil || in.Close() != nil {
		t.Error(err)
	}
	for name, open := range map[string]func() error{
		"Names":  func() error { _, err := Names(pipe, 1, All); return err },
		"Root":   func() error { _, err := Root(pipe); return err },
		"RootIn": func() error { _, err := RootIn(root, "pipe"); return err },
	} {
		if err := open(); !errors.Is(err, syscall.ENOTDIR) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNoFolder: a folder that is not set is none, and not the root of the file system.
func TestNoFolder(t *testing.T) {
	root, err := Root("")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, %v", root, err)
	}
	above, err := Root(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer above.Close()
	if in, err := RootIn(above, ""); err == nil {
		t.Errorf("below another one it is %s", in.Name())
	}
}
