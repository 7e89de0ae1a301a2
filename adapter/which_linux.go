package adapter

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// which tells what stands at a path from all that may come in its place, also over restarts: by its
// number and the time of its birth, which no system call sets. Its device has another number after a restart
// of the machine, and counts only on file systems that keep no such time.
func which(path string) (string, error) {
	var s unix.Statx_t
	err := error(unix.EINTR)
	for errors.Is(err, unix.EINTR) {
		err = unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_INO|unix.STATX_BTIME, &s)
	}
	switch {
	case err != nil:
		return "", err
	case s.Mask&unix.STATX_BTIME == 0:
		return fmt.Sprintf("inode %d of device %d:%d", s.Ino, s.Dev_major, s.Dev_minor), nil
	}
	return fmt.Sprintf("inode %d, born %d.%09d", s.Ino, s.Btime.Sec, s.Btime.Nsec), nil
}
