//go:build !linux

package appserver

import (
	"errors"
	"syscall"
)

// readReady reads what a file holds that never blocks.
func readReady(fd uintptr, p []byte) (int, error) {
	for {
		if n, err := syscall.Read(int(fd), p); !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}
