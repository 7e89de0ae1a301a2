package execs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/remove"
)

// makeHome makes the CODEX_HOME of a runtime's exec-servers, if it is not there.
func (s *Servers) makeHome(of string) (string, error) {
	home := s.home(of)
	if _, err := os.Stat(home); err == nil {
		return home, nil
	}
	if s.cfg.User != nil {
		if err := s.cfg.User.Give(home); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("a home for codex: %w", err)
		}
		return home, nil
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return "", fmt.Errorf("a home for codex: %w", err)
	}
	return home, nil
}

// removeHome removes it, with what codex has put there.
func (s *Servers) removeHome(of string) error {
	return s.cfg.User.Do(func() error { return remove.All(s.home(of)) })
}
