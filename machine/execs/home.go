package execs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/remove"
)

// passable is the mode of folders that another user gets through to its own.
const passable = 0o711

// own is the name of the CODEX_HOME of a codex that is only asked what it is. No runtime is called so.
const own = "-own"

// Prepare removes what codex has left in its homes, and returns one for a codex that is only asked what it is.
func (s *Servers) Prepare() (home string, err error) {
	err = errors.Join(remove.All(s.cfg.Home), os.MkdirAll(s.cfg.Home, 0o700))
	if err == nil && s.cfg.User != nil {
		err = errors.Join(os.Chmod(filepath.Dir(s.cfg.Home), passable), os.Chmod(s.cfg.Home, passable))
	}
	if err != nil {
		return "", fmt.Errorf("the homes of codex in the state directory: %w", err)
	}
	return s.makeHome(own)
}

// makeHome makes the CODEX_HOME of a runtime's exec-servers, if it is not there.
func (s *Servers) makeHome(of string) (home string, err error) {
	home = filepath.Join(s.cfg.Home, of)
	if _, err := os.Stat(home); err == nil {
		return home, nil
	}
	if s.cfg.User != nil {
		err = s.cfg.User.Give(home)
	} else {
		err = os.Mkdir(home, 0o700)
	}
	if err != nil {
		return "", fmt.Errorf("a home for codex: %w", err)
	}
	return home, nil
}

// removeHome removes it, with what codex has put there.
func (s *Servers) removeHome(of string) error { return remove.All(filepath.Join(s.cfg.Home, of)) }
