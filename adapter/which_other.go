//go:build !linux

package adapter

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// which tells what stands at a path from all that may come in its place, also over restarts.
func which(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", errors.ErrUnsupported
	}
	return fmt.Sprintf("inode %d, born %d.%09d", s.Ino, s.Birthtimespec.Sec, s.Birthtimespec.Nsec), nil
}
