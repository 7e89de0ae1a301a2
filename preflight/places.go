package preflight

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Writable checks that files can be made in dir, by making one and removing
// it. If made is set, the runtime makes dir at its start: one that is not there
// is as good as the directory that it would be made in. Variable names the
// setting that says where dir is.
func Writable(name, dir, variable string, made bool) Check {
	return Check{name, func(context.Context) Result {
		at := dir
		if made {
			at = nearest(dir)
		}
		switch err := tryWriting(at); {
		case err != nil:
			return unwritable(at, variable, err)
		case at != dir:
			return ok(dir + ", which the start makes")
		}
		return ok(dir)
	}}
}

// nearest returns the lowest directory above dir that is there, or dir itself.
func nearest(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// tryWriting writes a block, not only a name: on a full disk the name still
// finds a place.
func tryWriting(dir string) error {
	f, err := unnamed(dir)
	if err != nil {
		return err
	}
	_, errWrite := f.Write(make([]byte, 4096))
	return errors.Join(errWrite, f.Close())
}

// nameless makes a file and takes its name away at once.
func nameless(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, ".runtime-check-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// unwritable tells the causes apart that have different remedies.
func unwritable(dir, variable string, err error) Result {
	elsewhere := "set " + variable + " to another directory"
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fail(dir+": the disk, or this user's share of it, is full", "make room, or "+elsewhere)
	case errors.Is(err, syscall.EROFS):
		return fail(dir+" is on a read-only file system", "mount it read-write, or "+elsewhere)
	case errors.Is(err, fs.ErrPermission):
		return fail(fmt.Sprintf("%s cannot be written by user %d", dir, os.Geteuid()),
			fmt.Sprintf("chown it to %d, or %s", os.Geteuid(), elsewhere))
	case errors.Is(err, fs.ErrNotExist):
		return fail("there is no directory "+dir, "make it, or "+elsewhere)
	case errors.Is(err, syscall.ENOTDIR):
		return fail(dir+" is not a directory", elsewhere)
	}
	return fail(err.Error(), elsewhere)
}
