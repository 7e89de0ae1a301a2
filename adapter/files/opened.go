package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// mostHidden is how many entries of hidden folders are compared with a file that has
// several names. Where there are more, such a file is not handed out.
const mostHidden = 50_000

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
		secrets, err := secretsOf(root)
		if err != nil {
			return true
		}
		hidden = append(hidden, secrets...)
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

// secretsOf are what stands in a root under the name of a secret. A root that cannot be read
// has handed out nothing by such a name.
func secretsOf(root string) (paths []string, err error) {
	names, err := regular.Names(root, mostHidden, Secret)
	if !errors.Is(err, regular.ErrMany) {
		err = nil
	}
	for _, name := range names {
		paths = append(paths, filepath.Join(root, name))
	}
	return paths, err
}

// findSame looks for a file at a path and below it.
func findSame(path string, info fs.FileInfo) (found bool, err error) {
	if path, err = within.Follow(path); err != nil {
		return false, err
	}
	s := search{wanted: info, left: mostHidden}
	return s.at(path)
}

// A search looks for a file under another name.
type search struct {
	wanted fs.FileInfo
	left   int // how many names may still be looked at
}

func (s *search) at(path string) (found bool, err error) {
	have, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist): // it has gone meanwhile
		return false, nil
	case err != nil || !have.IsDir():
		return err == nil && os.SameFile(have, s.wanted), err
	}
	names, err := regular.Names(path, s.left, regular.All)
	if err != nil {
		return false, err
	}
	s.left -= len(names)
	for _, name := range names {
		if found, err := s.at(filepath.Join(path, name)); found || err != nil {
			return found, err
		}
	}
	return false, nil
}
