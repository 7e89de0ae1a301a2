package asuser

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestShut: other users' rights of a folder are taken away, and nothing else is changed.
func TestShut(t *testing.T) {
	for name, c := range map[string]struct {
		before, after os.FileMode
		said          bool
	}{
		"open":       {0o755, 0o700, true},
		"of a group": {0o750 | os.ModeSetgid, 0o700 | os.ModeSetgid, true},
		"closed":     {0o700, 0o700, false},
		"read only":  {0o500, 0o500, false},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			dir := filepath.Join(t.TempDir(), "home")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(dir, c.before); err != nil {
				t.Fatal(err)
			}
			var user *User
			user.Shut(dir, slog.New(slog.NewTextHandler(&log, nil)))
			info, err := os.Stat(dir)
			if err != nil || info.Mode() != c.after|os.ModeDir || strings.Contains(log.String(), "is not any more") != c.said {
				t.Errorf("%v, %v, log: %s", info.Mode(), err, &log)
			}
		})
	}
}

// TestShutOfAnother: what belongs to somebody else, as volumes do, stays as it is.
func TestShutOfAnother(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("takes root, to give a folder away")
	}
	dir, err := os.MkdirTemp("", "shut-") // the test's own is closed to the other
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(dir) })
	if err := os.Chown(dir, 4242, 4242); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var user *User
	user.Shut(dir, slog.New(slog.DiscardHandler))
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	(&User{UID: 4242, GID: 4242}).Shut(dir, slog.New(slog.DiscardHandler))
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its own: %v, %v", info.Mode(), err)
	}
}
