package wirelog

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// A file is what is appended to. It grows to the limit and becomes FILE.1 then, in
// the place of the one before. It belongs to the recorder's goroutine.
type file struct {
	path  string
	limit int64
	f     *os.File
	size  int64
}

// errNoFile refuses what must not be written to.
var errNoFile = errors.New("it is no regular file")

// errTaken says that another program records there.
var errTaken = errors.New("another runtime records there; give each a file of its own")

// errOthers refuses a file that others can have open.
var errOthers = errors.New("it is another user's, or has another name, too; let the runtime make a file of its own")

// open opens the file, or makes it. Only its owner may read it.
func (f *file) open() error {
	const flags = os.O_APPEND | os.O_CREATE | os.O_WRONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_NOCTTY
	opened, err := os.OpenFile(f.path, flags, 0o600)
	if err != nil {
		return err
	}
	size, err := claim(opened)
	if err != nil {
		return errors.Join(err, opened.Close())
	}
	f.f, f.size = opened, size
	return nil
}

// claim makes sure that a file is for us alone.
func claim(f *os.File) (size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, errNoFile
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && (int(stat.Uid) != os.Geteuid() || stat.Nlink > 1) {
		return 0, errOthers
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return 0, errTaken
		}
		// A file system without locks: then nobody is kept out.
	}
	if info.Mode().Perm() != 0o600 {
		err = f.Chmod(0o600)
	}
	return info.Size(), err
}

// write appends whole lines, or nothing.
func (f *file) write(b []byte) error {
	n, err := f.f.Write(b)
	if err == nil {
		f.size += int64(n)
		return nil
	}
	if n > 0 {
		if cut := f.f.Truncate(f.size); cut != nil {
			err = errors.Join(err, cut)
		}
	}
	return err
}

// full reports whether so many more bytes are too many.
func (f *file) full(more int) bool { return f.size > 0 && f.size+int64(more) > f.limit }

// rotate makes the file FILE.1 and begins another.
func (f *file) rotate() error {
	if err := os.Rename(f.path, f.path+OldSuffix); err != nil {
		return fmt.Errorf("rotate: %w", err)
	}
	old := f.f
	f.f = nil
	err := old.Close()
	return errors.Join(err, f.open())
}

func (f *file) close() error {
	if f.f == nil {
		return nil
	}
	err := f.f.Close()
	f.f = nil
	return err
}
