package codextemp

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestSocketsAreHeld: nothing that asks whether the folder is in use takes it for one that is
// not, nor one that was put in its place, for as long as we hold it; and another of this user
// holds it, too.
func TestSocketsAreHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sockets")
	tidied := func() bool {
		dir, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		return unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
	}
	one, other := &socketsFolder{path: path}, &socketsFolder{path: path}
	one.take()
	other.take()
	one.take()
	if tidied() {
		t.Error("it is not held")
	}
	one.Close()
	if tidied() {
		t.Error("the other does not hold it")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	other.take()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 || tidied() {
		t.Errorf("a new one: %v, %v, or it is not held", info, err)
	}
	other.Close()
	if !tidied() {
		t.Error("it is held for ever")
	}
}
