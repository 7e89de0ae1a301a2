package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestRepositoryStands: codex reads a file .git whole, and it looks for one upwards.
func TestRepositoryStands(t *testing.T) {
	sparse := func(size int64) func(string) error {
		return func(path string) error {
			if err := os.WriteFile(path, []byte("gitdir: elsewhere\n"), 0o600); err != nil {
				return err
			}
			return os.Truncate(path, size)
		}
	}
	for name, tt := range map[string]struct {
		plant   func(path string) error
		refused bool
	}{
		"nothing":                              {func(string) error { return nil }, false},
		"a folder":                             {func(path string) error { return os.Mkdir(path, 0o700) }, false},
		"a worktree's":                         {sparse(18), false},
		"a large file":                         {sparse(4 << 30), true},
		"a pipe":                               {func(path string) error { return syscall.Mkfifo(path, 0o600) }, true},
		"a link to it":                         {func(path string) error { return os.Symlink("/dev/zero", path) }, true},
		"a link to what says that it is empty": {func(path string) error { return os.Symlink("/proc/self/status", path) }, true},
		"an empty file":                        {func(path string) error { return os.WriteFile(path, nil, 0o600) }, false},
		"a link to none":                       {func(path string) error { return os.Symlink("nowhere", path) }, false},
		"a link to a dir":                      {func(path string) error { return os.Symlink(".", path) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			above := t.TempDir()
			dir := filepath.Join(above, "a", "b")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			for _, in := range []string{dir, above} {
				path := filepath.Join(in, ".git")
				if err := tt.plant(path); err != nil {
					t.Fatal(err)
				}
				why := repositoryStands(dir)
				if refused := why != ""; refused != tt.refused || refused && !strings.Contains(why, path) {
					t.Errorf("%s: %s", path, why)
				}
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
