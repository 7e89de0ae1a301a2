package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// restoreOver puts another database in the place of the one in dir.
func restoreOver(dir string) error {
	path := filepath.Join(dir, "state.db")
	text, err := os.ReadFile(path)
	return errors.Join(err, os.Remove(path), os.WriteFile(path, text, 0o600))
}

// TestReplaced has files go from under a store that is open: nothing is promised any more,
// for the next store would not know of it.
func TestReplaced(t *testing.T) {
	for name, replace := range map[string]func(dir string) error{
		"restored-over": restoreOver,
		"another-lock": func(dir string) error {
			path := filepath.Join(dir, "state.lock")
			return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600))
		},
		"removed": os.RemoveAll,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s, err := Open(t.Context(), Config{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			m, h := message(1, "one")
			if err := errors.Join(s.Accept(t.Context(), m, h), s.Replaced()); err != nil {
				t.Fatal(err)
			}
			if err := replace(dir); err != nil {
				t.Fatal(err)
			}
			first := m.Key
			m, h = message(2, "two")
			wantErr(t, s.Accept(t.Context(), m, h), ErrReplaced)
			wantErr(t, s.Replaced(), ErrReplaced)
			if _, err := s.Message(t.Context(), first); err != nil {
				t.Errorf("what runs cannot go on: %v", err)
			}
			_, err = os.Stat(filepath.Join(dir, "state.db-wal"))
			if ours := err == nil; ours != (name == "another-lock") {
				t.Errorf("our log is there: %t", ours)
			}
		})
	}
}

// TestReplacedInAQuietMoment puts the log aside where nobody asks for anything.
func TestReplacedInAQuietMoment(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	must(t, errors.Join(s.Replaced(), restoreOver(dir)))
	s.turn.Lock()
	_, err := s.sweepOnce()
	s.turn.Unlock()
	must(t, err)
	if _, err := os.Stat(s.Path() + "-wal"); err == nil {
		t.Error("our log is still there")
	}
}

// TestReplacedLogFirst leaves the other log where it is, though our database stood for a while when that came.
func TestReplacedLogFirst(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	log := s.Path() + "-wal"
	must(t, errors.Join(s.Replaced(), os.Remove(log), os.WriteFile(log, nil, 0o600), s.Replaced(), restoreOver(dir)))
	wantErr(t, s.Replaced(), ErrReplaced)
	if _, err := os.Stat(log); err != nil {
		t.Errorf("the log of the other database: %v", err)
	}
}
