package e2e

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestStateIsClosedToOthers where it was open to them: made by hand, or restored. So is codex's
// home.
func TestStateIsClosedToOthers(t *testing.T) {
	t.Parallel()
	x := poll(t)
	x.say("hello")
	x.told(1)
	x.Stop()
	if err := errors.Join(os.Chmod(x.Home, 0o755), os.Chmod(x.State, 0o755), os.Chmod(filepath.Join(x.State, "state.db"), 0o644), os.MkdirAll(filepath.Join(x.State, "files"), 0o755)); err != nil {
		t.Fatal(err)
	}
	x.again()
	x.say("hello again")
	x.told(2)
	if info, err := os.Stat(x.Home); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("codex's home is %v, %v", info.Mode(), err)
	}
	var names []string
	if err := filepath.WalkDir(x.State, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %s", path, info.Mode())
		}
		names = append(names, entry.Name())
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"state.db", "state.lock", "channel.sock"} {
		if !slices.Contains(names, name) {
			t.Errorf("there is no %s among %q", name, names)
		}
	}
}
