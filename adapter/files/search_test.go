package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// TestSearchIsBounded: what is hidden may be codex's home, which commands can fill.
func TestSearchIsBounded(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 {
		below := filepath.Join(dir, fmt.Sprint(i))
		if err := errors.Join(os.Mkdir(below, 0o700), os.WriteFile(filepath.Join(below, "x"), nil, 0o600), os.WriteFile(filepath.Join(below, "y"), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(filepath.Join(dir, "2/y"))
	if err != nil {
		t.Fatal(err)
	}
	for left, want := range map[int]error{2: regular.ErrMany, 8: regular.ErrMany, 9: nil} {
		s := search{wanted: info, left: left}
		if found, err := s.at(dir); found != (want == nil) || !errors.Is(err, want) {
			t.Errorf("with %d names: %v, %v", left, found, err)
		}
	}
}

// TestPipeInThePlaceOfTheFolder: a command puts one there between the look and the opening.
func TestPipeInThePlaceOfTheFolder(t *testing.T) {
	work := t.TempDir()
	at := filepath.Join(work, "folder")
	if err := os.Mkdir(at, 0o700); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(work)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	seen, err := root.Lstat("folder")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(at), syscall.Mkfifo(at, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := enterSeen(root, "folder", seen); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("%v", err)
	}
	if _, _, err := openIn(at, "x"); !errors.Is(err, ErrNotHere) {
		t.Errorf("%v", err)
	}
}
