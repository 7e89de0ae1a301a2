package e2e

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestStateIsClosedToOthers where it was open to them: made by hand, or restored.
func TestStateIsClosedToOthers(t *testing.T) {
	t.Parallel()
	x := poll(t)
	x.say("hello")
	x.told(1)
	x.Stop()
	if err := errors.Join(os.Chmod(x.State, 0o755), os.Chmod(filepath.Join(x.State, "state.db"), 0o644), os.MkdirAll(filepath.Join(x.State, "files"), 0o755)); err != nil {
		t.Fatal(err)
	}
	x.again()
	x.say("hello again")
	x.told(2)
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
