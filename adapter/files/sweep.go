package files

import (
	"errors"
	"io/fs"
	"strings"
	"time"
)

// partialAge is how old a file is that nobody writes any more.
const partialAge = 24 * time.Hour

// Sweep deletes the files in the folder that have not changed since before, and what
// processes that were killed have left half written.
func (f *Folder) Sweep(before time.Time) error {
	return f.cfg.User.Do(func() error { return f.sweep(before) })
}

func (f *Folder) sweep(before time.Time) error {
	root, err := f.openExisting()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	var failed error
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		old := storedName.MatchString(entry.Name()) && info.ModTime().Before(before)
		left := strings.HasPrefix(entry.Name(), partial) && time.Since(info.ModTime()) > partialAge
		if old || left {
			failed = errors.Join(failed, root.Remove(entry.Name()))
		}
	}
	return failed
}
