// Package whole writes files that are there as they were or as they are to be, and never
// in between, also after a kill, a full disk or a power cut.
package whole

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// leftAfter is how old a file is that nobody writes any more.
const leftAfter = time.Minute

// Write makes text what the file holds. What it writes at first stands beside the file,
// under a name that begins with the file's own, and is gone when Write returns; what a
// process has left there that was killed is removed by a later one.
func Write(path string, text []byte, mode fs.FileMode) error {
	return WriteIf(path, text, mode, func() error { return nil })
}

// WriteIf is Write, if what is asked at the last moment has no error, which is returned.
func WriteIf(path string, text []byte, mode fs.FileMode, last func() error) error {
	sweep(path)
	temp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp") // 0600: nobody else reads it before it has its mode
	if err != nil {
		return err
	}
	_, err = temp.Write(text)
	if err == nil {
		err = temp.Chmod(mode)
	}
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err == nil {
		err = last()
	}
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return syncFolder(filepath.Dir(path))
}

// mostLeft is how much is removed at once of what was left.
const mostLeft = 1000

func sweep(path string) {
	left, _ := regular.Names(filepath.Dir(path), mostLeft, func(name string) bool {
		return strings.HasPrefix(name, filepath.Base(path)+".") && strings.HasSuffix(name, ".tmp")
	})
	for _, name := range left {
		name = filepath.Join(filepath.Dir(path), name)
		if info, err := os.Lstat(name); err == nil && time.Since(info.ModTime()) > leftAfter {
			_ = os.Remove(name) // the next one tries again
		}
	}
}

func syncFolder(dir string) error {
	d, err := regular.Folder(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
