package store

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// modes are the rights of all that stands in a directory, and its own as ".".
func modes(t *testing.T, dir string) map[string]fs.FileMode {
	t.Helper()
	all := map[string]fs.FileMode{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		name, _ := filepath.Rel(dir, path)
		all[name] = info.Mode().Perm()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestStateIsTheOwners: also where the directory was made by hand, or restored from a
// copy, and where files are made for everybody by default.
func TestStateIsTheOwners(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s, err := Open(t.Context(), Config{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		while := modes(t, dir)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{".", "state.db", "state.db-wal", "state.lock"} {
			if while[name] == 0 {
				t.Errorf("there is no %s in %v", name, while)
			}
		}
		for name, mode := range while {
			if want := fs.FileMode(0o600); name != "." && name != "files" && mode != want || mode&0o077 != 0 {
				t.Errorf("%s: %s", name, mode)
			}
		}
		err = errors.Join(os.Chmod(dir, 0o755), os.Chmod(filepath.Join(dir, "state.db"), 0o644))
		if err := os.Mkdir(filepath.Join(dir, "files"), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			t.Fatal(err)
		}
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, "state.db.v1"), nil, 0o644))
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestStateOfAnother is used where its group is ours, and not where every user may
// replace what is in it.
func TestStateOfAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory away")
	}
	for mode, ok := range map[fs.FileMode]bool{0o770: true, 0o775: true, 0o777: false, 0o1777: false, 0o772: false} {
		dir := t.TempDir()
		db := filepath.Join(dir, "state.db.v1")
		if err := errors.Join(os.WriteFile(db, nil, 0o644), syscall.Chmod(dir, uint32(mode)), os.Chown(dir, 12345, -1)); err != nil {
			t.Fatal(err)
		}
		err := private(dir, slog.New(slog.DiscardHandler))
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "belongs to user 12345") {
			t.Errorf("%o: %v", mode, err)
		}
		if now := modes(t, dir); ok && (now["state.db.v1"] != 0o600 || now["."] != mode) {
			t.Errorf("%o: %v", mode, now)
		}
	}
}
