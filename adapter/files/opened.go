package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// mostHidden is how many entries of hidden folders are compared with a file that has
// several names. Where there are more, such a file is not handed out.
const mostHidden = 50_000

var errTooManyHidden = errors.New("there are too many hidden files to compare")

// opened looks at what is open, whatever its path was when it was checked: at where it
// stands now, and at what else it is called.
func (f *Folder) opened(file *os.File, info fs.FileInfo, root string) error {
	if path := whereIs(file); path != "" && (!inside(path, root) || f.hidden(path)) {
		return ErrForbidden
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Nlink > 1 && f.alsoHidden(info) {
		return ErrForbidden
	}
	return nil
}

// whereIs returns the path of an open file, "" where the system does not tell.
func whereIs(file *os.File) (path string) {
	conn, err := file.SyscallConn()
	if err != nil {
		return ""
	}
	_ = conn.Control(func(fd uintptr) { path = pathOf(fd) })
	return path
}

// alsoHidden reports whether a file is one that is never handed out, under a name that
// was given to it besides. What cannot be looked at may be it.
func (f *Folder) alsoHidden(info fs.FileInfo) bool {
	hidden := append([]string{}, f.cfg.Hidden...)
	for _, root := range append([]string{f.cfg.Work}, f.cfg.Readable...) {
		hidden = append(hidden, secretsOf(root)...)
	}
	for _, path := range hidden {
		found, err := findSame(path, info)
		if errors.Is(err, fs.ErrPermission) { // it is the user's whose codex is
			err = f.cfg.User.Do(func() (err error) {
				found, err = findSame(path, info)
				return err
			})
		}
		if found || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}

// secretsOf are what stands in a root under the name of a secret.
func secretsOf(root string) (paths []string) {
	entries, _ := os.ReadDir(root) // a root that cannot be read has handed out nothing by this name
	for _, entry := range entries {
		if Secret(entry.Name()) {
			paths = append(paths, filepath.Join(root, entry.Name()))
		}
	}
	return paths
}

// findSame looks for a file at a path and below it.
func findSame(path string, info fs.FileInfo) (found bool, err error) {
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return false, err
	}
	seen := 0
	err = filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
		if seen++; seen > mostHidden {
			return errTooManyHidden
		}
		if err == nil && entry.Type().IsRegular() {
			var have fs.FileInfo
			if have, err = entry.Info(); err == nil && os.SameFile(have, info) {
				found = true
				return fs.SkipAll
			}
		}
		if errors.Is(err, fs.ErrNotExist) { // it has gone meanwhile
			return nil
		}
		return err
	})
	return found, err
}
