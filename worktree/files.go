package worktree

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/remove"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/whole"
)

// Where things stand in a repository.
const (
	heads        = "refs/heads"
	replaced     = "refs/replaced"
	worktreesDir = "worktrees"
	locksDir     = "runtime-locks"
	incomingDir  = "runtime-incoming"
	markFile     = "runtime-repository"
	// mostSmall is more than any file of a repository's has that is read whole.
	mostSmall = 1 << 20
)

func adminDir(dir, branch string) string { return filepath.Join(dir, worktreesDir, idOf(branch)) }

// keep puts the files back that say what git does.
func (g *git) keep() error {
	return g.user.Do(func() error {
		for path, want := range g.kept {
			have, err := regular.Read(path, mostSmall)
			if err == nil && string(have) == want {
				continue
			}
			if err == nil || !errors.Is(err, os.ErrNotExist) {
				g.log.Warn("a file of a git repository was changed, and is put back", "path", path)
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				return err
			}
			if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
				if err := remove.All(path); err != nil {
					return err
				}
			}
			if err := whole.Write(path, []byte(want), 0o600); err != nil {
				return err
			}
		}
		return nil
	})
}

// read returns a small file; nothing if there is none.
func (g *git) read(path string) (string, error) {
	text, err := asuser.Value(g.user, func() ([]byte, error) { return regular.Read(path, mostSmall) })
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	return string(text), err
}

// write writes a small file, whole.
func (g *git) write(path, text string) error {
	return g.user.Do(func() error {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		return whole.Write(path, []byte(text), 0o600)
	})
}

// lstat is os.Lstat; nil of what is not there.
func (g *git) lstat(path string) (os.FileInfo, error) {
	info, err := asuser.Value(g.user, func() (os.FileInfo, error) { return os.Lstat(path) })
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil //nolint:nilnil // nothing is there
	}
	return info, err
}

// removeFile removes a file that may not be there.
func (g *git) removeFile(path string) error {
	return g.user.Do(func() error {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	})
}

// create makes a file that is not there.
func create(user *asuser.User, path string) (*os.File, error) {
	return asuser.Value(user, func() (*os.File, error) {
		return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	})
}
