package within

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// Exceeds reports whether a file has more bytes than that, or may have: a program that reads it
// whole would have all of them in its memory. Commands can make a large file that takes nothing of
// the disk, and a link to where files say that they are empty and are not: in /proc, which shows
// each process its own, or where else content is made up as it is read.
func Exceeds(path string, most int64) bool {
	at, err := os.Lstat(path)
	if err != nil {
		return false
	}
	isLink := at.Mode()&fs.ModeSymlink != 0
	if isLink {
		steps, _, err := way(path, mostNamed)
		if err != nil || slices.ContainsFunc([]string{"/proc", "/sys", "/dev"}, func(dir string) bool { return passes(steps, dir) }) {
			return true
		}
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	return info.Size() > most || isLink && info.Size() == 0 && !isEmpty(path)
}

// isEmpty reports whether a file that says so is. What stands there by now may be something
// else, such as a pipe whose other end nobody writes to: it is not waited for.
func isEmpty(path string) bool {
	file, info, err := regular.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	reads, err := file.SyscallConn()
	if err != nil || info.Size() > 0 {
		return false
	}
	n, failed := 0, error(nil)
	err = reads.Read(func(fd uintptr) bool {
		n, failed = syscall.Read(int(fd), make([]byte, 1))
		return true // also where there is nothing yet
	})
	return n == 0 && errors.Join(err, failed) == nil
}
