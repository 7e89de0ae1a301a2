package leasetest

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// Hold takes a lease on a file, until letGo or the test's end. Where there are no leases the
// test is skipped.
func Hold(t *testing.T, path string) (letGo func()) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Skipf("there are no leases here: %v", err)
	}
	return func() { _ = f.Close() }
}
