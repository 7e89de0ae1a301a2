package asuser_test

import (
	"os"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

// TestChanges tells whether the other user says what a path leads to.
func TestChanges(t *testing.T) {
	eachWay(t, func(t *testing.T, other *asuser.User) {
		theirs, ours := int(other.UID), os.Getuid()
		type lay func(t *testing.T, dir string) (path string)
		test := func(name string, want bool, lay lay) {
			t.Run(name, func(t *testing.T) {
				dir := open(t)
				chmod(t, dir, 0o755)
				if got := other.Changes(lay(t, dir)); got != want {
					t.Errorf("Changes = %v, want %v", got, want)
				}
			})
		}
		test("a folder of ours", false, func(_ *testing.T, dir string) string { return dir })
		test("that is not there", false, func(_ *testing.T, dir string) string { return dir + "/none/file" })
		test("a file of ours", false, func(t *testing.T, dir string) string { return file(t, dir+"/file", ours, 0o644) })
		test("a file that all may write", true, func(t *testing.T, dir string) string { return file(t, dir+"/file", ours, 0o666) })
		test("in a folder that all may write", true, func(t *testing.T, dir string) string {
			mkdir(t, dir+"/all", ours)
			chmod(t, dir+"/all", 0o777)
			return file(t, dir+"/all/file", ours, 0o600)
		})
		test("behind a folder that may not be read", true, func(t *testing.T, dir string) string {
			mkdir(t, dir+"/entered", ours)
			file(t, dir+"/entered/file", ours, 0o666)
			chmod(t, dir+"/entered", 0o311)
			return dir + "/entered/file"
		})
		test("by links of ours", false, func(t *testing.T, dir string) string {
			mkdir(t, dir+"/elsewhere", ours)
			file(t, dir+"/file", ours, 0o644)
			link(t, "../file", dir+"/elsewhere/relative", ours)
			link(t, dir+"/elsewhere", dir+"/folder", ours)
			link(t, "folder/relative", dir+"/first", ours)
			return dir + "/first"
		})
		test("by a link to itself", false, func(t *testing.T, dir string) string {
			link(t, "loop", dir+"/loop", ours)
			return dir + "/loop"
		})
		if ours != 0 {
			return // what follows gives things away
		}
		test("a file of theirs", true, func(t *testing.T, dir string) string { return file(t, dir+"/file", theirs, 0o400) })
		test("below a folder of theirs", true, func(t *testing.T, dir string) string {
			mkdir(t, dir+"/theirs", theirs)
			mkdir(t, dir+"/theirs/ours", ours)
			return file(t, dir+"/theirs/ours/file", ours, 0o600)
		})
		test("a link of theirs", true, func(t *testing.T, dir string) string {
			file(t, dir+"/file", ours, 0o600)
			link(t, "file", dir+"/link", theirs)
			return dir + "/link"
		})
		test("by a link of ours into a folder of theirs", true, func(t *testing.T, dir string) string {
			mkdir(t, dir+"/theirs", theirs)
			file(t, dir+"/theirs/file", ours, 0o600)
			link(t, "theirs/file", dir+"/link", ours)
			return dir + "/link"
		})
		test("by a link in a folder of theirs", true, func(t *testing.T, dir string) string {
			mkdir(t, dir+"/theirs", theirs)
			mkdir(t, dir+"/ours", ours)
			file(t, dir+"/ours/file", ours, 0o600)
			link(t, "../ours", dir+"/theirs/link", ours)
			link(t, "theirs/link", dir+"/first", ours)
			return dir + "/first/file"
		})
	})
}

func file(t *testing.T, path string, owner int, mode os.FileMode) string {
	t.Helper()
	if err := os.WriteFile(path, nil, mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, owner, owner); err != nil {
		t.Fatal(err)
	}
	chmod(t, path, mode)
	return path
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}
