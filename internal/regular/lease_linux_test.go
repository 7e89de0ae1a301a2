package regular

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leasetest"
)

// TestHeld: a command may not write the file, and yet it keeps others from reading it.
func TestHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	letGo := leasetest.Hold(t, path)
	if _, err := Read(path, 10); !errors.Is(err, ErrHeld) {
		t.Errorf("%v", err)
	}
	letGo()
	if text, err := Read(path, 10); string(text) != "x" || err != nil {
		t.Errorf("afterwards: %q, %v", text, err)
	}
}

// TestKeeper: what stood in a file last is had while it is held, and no longer.
func TestKeeper(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var k Keeper
	want := func(when, text string, wrong error) {
		t.Helper()
		if got, err := k.Read(path, 10); string(got) != text || !errors.Is(err, wrong) {
			t.Errorf("%s: %q, %v", when, got, err)
		}
	}
	want("before it is there", "", fs.ErrNotExist)
	write("one")
	letGo := leasetest.Hold(t, path)
	want("held before it was read", "", ErrHeld)
	k.Wrote(path, []byte("ours"))
	want("held after we wrote it", "ours", nil)
	letGo()
	want("let go", "one", nil)
	letGo = leasetest.Hold(t, path)
	want("held", "one", nil)
	letGo()
	write("two")
	want("written since", "two", nil)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	want("taken away", "", fs.ErrNotExist)
	write("three")
	leasetest.Hold(t, path)
	want("held after it was taken away", "", ErrHeld)
}
