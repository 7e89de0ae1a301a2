package asuser_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

// TestGive makes folders for the other user where nothing on the way is theirs, and none
// elsewhere.
func TestGive(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("this takes root")
	}
	other, err := asuser.Lookup(another)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		mode os.FileMode // of the folder above all
		lay  func(t *testing.T, dir string) (home string)
		made string // below dir; empty where it is refused
	}{
		"ours": {0o755, func(_ *testing.T, dir string) string { return dir + "/home" }, "home"},
		"by links of ours": {0o755, func(t *testing.T, dir string) string {
			mkdir(t, dir+"/elsewhere", 0)
			link(t, "../"+filepath.Base(dir)+"/elsewhere", dir+"/relative", 0)
			link(t, dir+"/relative", dir+"/absolute", 0)
			return dir + "/absolute/home"
		}, "elsewhere/home"},
		"below a sticky one": {0o777 | os.ModeSticky, func(t *testing.T, dir string) string {
			mkdir(t, dir+"/ours", 0)
			return dir + "/ours/home"
		}, "ours/home"},
		"theirs": {0o755, func(t *testing.T, dir string) string {
			mkdir(t, dir+"/theirs", int(other.UID))
			return dir + "/theirs/home"
		}, ""},
		"below theirs": {0o755, func(t *testing.T, dir string) string {
			mkdir(t, dir+"/theirs", int(other.UID))
			mkdir(t, dir+"/theirs/ours", 0)
			return dir + "/theirs/ours/home"
		}, ""},
		"below one that all may write": {0o777, func(t *testing.T, dir string) string {
			mkdir(t, dir+"/ours", 0)
			return dir + "/ours/home"
		}, ""},
		"by a link of theirs": {0o777 | os.ModeSticky, func(t *testing.T, dir string) string {
			mkdir(t, dir+"/ours", 0)
			link(t, dir+"/ours", dir+"/link", int(other.UID))
			return dir + "/link/home"
		}, ""},
		"by a link in theirs": {0o755, func(t *testing.T, dir string) string {
			mkdir(t, dir+"/ours", 0)
			mkdir(t, dir+"/theirs", int(other.UID))
			link(t, dir+"/ours", dir+"/theirs/link", 0)
			return dir + "/theirs/link/home"
		}, ""},
		"by a link to itself": {0o755, func(t *testing.T, dir string) string {
			link(t, "loop", dir+"/loop", 0)
			return dir + "/loop/home"
		}, ""},
		"a link": {0o755, func(t *testing.T, dir string) string {
			mkdir(t, dir+"/ours", 0)
			link(t, dir+"/ours", dir+"/home", 0)
			return dir + "/home"
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := open(t)
			if err := os.Chmod(dir, c.mode); err != nil {
				t.Fatal(err)
			}
			home := c.lay(t, dir)
			err := other.Give(home)
			if c.made == "" {
				if info, statErr := os.Stat(home); err == nil || statErr == nil && statOf(t, home).Uid != 0 {
					t.Errorf("made: %v, %v", info, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if stat := statOf(t, filepath.Join(dir, c.made)); stat.Uid != other.UID || stat.Gid != other.GID || stat.Mode&0o777 != 0o700 {
				t.Errorf("it is %d:%d's with the mode %o", stat.Uid, stat.Gid, stat.Mode)
			}
		})
	}
}

func mkdir(t *testing.T, path string, owner int) {
	t.Helper()
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, owner, owner); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, path string, owner int) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
	if err := os.Lchown(path, owner, owner); err != nil {
		t.Fatal(err)
	}
}
