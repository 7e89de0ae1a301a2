package preflight

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestNothingIsLeftBehind tries a directory, and sees that nothing appears in it,
// however short a time: a kill could fall into that.
func TestNothingIsLeftBehind(t *testing.T) {
	dir := t.TempDir()
	if f, err := os.OpenFile(dir, unix.O_TMPFILE|os.O_WRONLY, 0o600); err != nil {
		t.Skipf("this file system knows no files without a name: %v", err)
	} else if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	watch, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(watch)
	if _, err := unix.InotifyAddWatch(watch, dir, unix.IN_CREATE); err != nil {
		t.Fatal(err)
	}
	if err := tryWriting(dir); err != nil {
		t.Fatal(err)
	}
	if n, err := unix.Read(watch, make([]byte, 4096)); err != unix.EAGAIN {
		t.Errorf("something was made in it: %d bytes of events, %v", n, err)
	}
	f, err := nameless(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() // it was not written to
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
	if _, err := unix.Read(watch, make([]byte, 4096)); err != nil {
		t.Errorf("the watch sees nothing: %v", err)
	}
}
