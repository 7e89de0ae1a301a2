package execs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/remove"
)

// own is the name of the CODEX_HOME of a codex that is only asked what it is. No runtime is called so.
const own = "-own"

// Prepare removes what codex has left in its homes, and returns one for a codex that is only asked what it is.
func (s *Servers) Prepare() (home string, err error) {
	err = s.cfg.User.Do(func() error { return errors.Join(remove.All(s.cfg.Home), os.MkdirAll(s.cfg.Home, 0o700)) })
	if err != nil {
		return "", fmt.Errorf("the homes of codex: %w", err)
	}
	return s.makeHome(own)
}

// makeHome makes the CODEX_HOME of a runtime's exec-servers, if it is not there.
func (s *Servers) makeHome(of string) (home string, err error) { return s.makeFolder(of) }

// temp is the name of the temp directory of a runtime's commands. codex lets them write that of the exec-server in their
// sandbox (seen on 0.169.0), and its own lies elsewhere. No runtime is called so.
func temp(of string) string { return of + ".temp" }

// makeFolder makes a folder, if it is not there.
func (s *Servers) makeFolder(name string) (dir string, err error) {
	dir = filepath.Join(s.cfg.Home, name)
	err = s.cfg.User.Do(func() error { return os.Mkdir(dir, 0o700) })
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("a folder for codex: %w", err)
	}
	return dir, nil
}

// removeHome removes it, with what codex has put there, and commands into their temp directory.
func (s *Servers) removeHome(of string) error {
	return s.cfg.User.Do(func() error {
		return errors.Join(remove.All(filepath.Join(s.cfg.Home, of)), remove.All(filepath.Join(s.cfg.Home, temp(of))))
	})
}
