//go:build linux && !race

package appserver

import (
	"errors"
	"syscall"
	"unsafe"
)

// readReady reads what a file holds that never blocks. So the scheduler is not told of
// the call: it would wake its thread that watches over calls, for each few lines of
// codex, and on the few cores of a container that thread takes its time from codex.
func readReady(fd uintptr, p []byte) (int, error) {
	for {
		n, _, err := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p))) //nolint:gosec // the address is that of p for the length of the call
		switch {
		case err == 0:
			return int(n), nil
		case !errors.Is(err, syscall.EINTR):
			return 0, err
		}
	}
}
