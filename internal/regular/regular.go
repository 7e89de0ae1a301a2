// Package regular reads files and folders that others may have replaced by something else, or
// filled with any number of things.
package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// errNotOne says that a path leads to a folder, a pipe or a device.
var errNotOne = errors.New("it is not a file")

// ErrHeld says that a process has a lease on a file (fcntl, F_SETLEASE), which takes no more
// than to read it and to be its owner: it can be read later.
var ErrHeld = errors.New("a process keeps others from reading it for now")

// reading waits for nobody: where a pipe stands in a file's place, opening it would wait
// for the other end. And a terminal that stands there does not become ours: a process at its
// other end could end us by a key.
const reading = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOCTTY

// Read returns at most so many bytes of a file.
func Read(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, reading, 0)
	return read(f, err, most)
}

// Open opens a file.
func Open(path string) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(path, reading, 0)
	return checked(f, err)
}

// ReadIn is [Read] of a file below a folder.
func ReadIn(root *os.Root, name string, most int64) ([]byte, error) {
	f, err := root.OpenFile(name, reading, 0)
	return read(f, err, most)
}

// OpenIn opens a file below a folder.
func OpenIn(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	f, err := root.OpenFile(name, reading, 0)
	return checked(f, err)
}

func read(f *os.File, err error, most int64) ([]byte, error) {
	if f, _, err = checked(f, err); err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// checked closes what is no file.
func checked(f *os.File, err error) (*os.File, fs.FileInfo, error) {
	if errors.Is(err, syscall.EAGAIN) {
		return nil, nil, fmt.Errorf("%w: %w", ErrHeld, err)
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: f.Name(), Err: errNotOne}
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}
