package regular

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestHeld: a command may not write the file, and yet it keeps others from reading it.
func TestHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Skipf("there are no leases here: %v", err)
	}
	if _, err := Read(path, 10); !errors.Is(err, ErrHeld) {
		t.Errorf("%v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if text, err := Read(path, 10); string(text) != "x" || err != nil {
		t.Errorf("afterwards: %q, %v", text, err)
	}
}
