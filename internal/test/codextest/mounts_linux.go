package codextest

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// SharedMounts gives the calling goroutine, and what it starts, mounts of their own, which
// mount namespaces below share with it and none beside. Its thread ends with it. The test is
// skipped where that takes rights that it does not have.
func SharedMounts(t *testing.T) {
	t.Helper()
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		runtime.UnlockOSThread()
		t.Skipf("no mounts of our own: %v", err)
	}
	for _, how := range []uintptr{unix.MS_PRIVATE, unix.MS_SHARED} {
		if err := unix.Mount("none", "/", "", how|unix.MS_REC, ""); err != nil {
			t.Fatal(err)
		}
	}
}
