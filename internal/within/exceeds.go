package within

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"
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

// isEmpty reports whether a file that says so is.
func isEmpty(path string) bool {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer file.Close()
	n, err := file.Read(make([]byte, 1))
	return n == 0 && errors.Is(err, io.EOF)
}
