package codextest

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestOutsideOfTemp: a clone may lie under the temp directory, also by a symlink.
func TestOutsideOfTemp(t *testing.T) {
	base := t.TempDir()
	temp := filepath.Join(base, "temp")
	if err := os.MkdirAll(filepath.Join(temp, "clone"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(temp, "clone"), filepath.Join(base, "link")); err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(base, "cache", "none", "yet")
	closed := filepath.Join(base, "closed")
	if err := errors.Join(os.Mkdir(closed, 0o700), os.Chmod(base, 0o755), os.Chmod(filepath.Dir(base), 0o755)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		dirs []string
		all  bool
		want string
	}{
		"beside":         {[]string{filepath.Join(base, "clone"), cache}, false, filepath.Join(base, "clone")},
		"like-it":        {[]string{temp + "orary", cache}, false, temp + "orary"},
		"below":          {[]string{filepath.Join(temp, "clone", "new"), cache}, false, cache},
		"itself":         {[]string{temp, cache}, false, cache},
		"by-a-link":      {[]string{filepath.Join(base, "link", "new"), cache}, false, cache},
		"all-below":      {[]string{filepath.Join(temp, "a"), filepath.Join(temp, "b")}, false, ""},
		"closed":         {[]string{filepath.Join(closed, "new", "tmp"), cache}, true, cache},
		"closed-to-some": {[]string{filepath.Join(closed, "new", "tmp"), cache}, false, filepath.Join(closed, "new", "tmp")},
		"to-be-opened":   {[]string{closed, cache}, true, closed},
	} {
		t.Run(name, func(t *testing.T) {
			if got := usable(c.dirs, []string{filepath.Join(base, "other"), temp}, c.all); got != c.want {
				t.Errorf("usable = %q, want %q", got, c.want)
			}
		})
	}
}

// TestScratch: this machine has a place for test directories.
func TestScratch(t *testing.T) {
	if _, err := Scratch(); err != nil {
		t.Fatal(err)
	}
}

// TestRunLeavesNothing: the folder of a process goes with the last directory in it, and what
// a killed process has left with the next one's first.
func TestRunLeavesNothing(t *testing.T) {
	parent := t.TempDir()
	ended, living := filepath.Join(parent, "run-ended"), filepath.Join(parent, "run-living")
	if err := errors.Join(os.MkdirAll(filepath.Join(ended, "home"), 0o700), os.Mkdir(living, 0o700)); err != nil {
		t.Fatal(err)
	}
	lock, err := locked(living, syscall.LOCK_EX)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	sweep(parent)
	if left, err := os.ReadDir(parent); err != nil || len(left) != 1 || left[0].Name() != "run-living" {
		t.Errorf("%v, %v, want the folder of the one that lives", left, err)
	}

	var first, second string
	t.Run("directories", func(t *testing.T) { first, second = Dir(t, "a"), Dir(t, "b") })
	if filepath.Dir(first) != filepath.Dir(second) {
		t.Errorf("%s and %s of one process", first, second)
	}
	if _, err := os.Stat(filepath.Dir(first)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder: %v, want it gone", err)
	}
}
