package files

import (
	"cmp"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// A partial file that has not changed for partialAge is left over: each transfer is given up long
// before that. Until it is deleted it counts for no quota.
const partialAge = 15 * time.Minute

// Sweep deletes the files in the folder that have not changed since before, and what
// processes that were killed have left half written. What stays is counted anew.
func (f *Folder) Sweep(before time.Time) error {
	return errors.Join(f.cfg.User.Do(func() error { return f.sweep(before) }), f.cfg.Quota.Count())
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
	var failed error
	err = regular.EachIn(root, func(name string) error {
		info, err := root.Lstat(name)
		if err != nil || !info.Mode().IsRegular() {
			return nil //nolint:nilerr // it has gone meanwhile
		}
		old := storedName.MatchString(name) && info.ModTime().Before(before)
		left := strings.HasPrefix(name, partial) && time.Since(info.ModTime()) > partialAge
		if old || left {
			failed = cmp.Or(root.Remove(name), failed)
		}
		return nil
	})
	return errors.Join(err, failed)
}
