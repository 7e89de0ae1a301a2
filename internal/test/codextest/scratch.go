package codextest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// Scratch returns the folder that test directories are made in: one of the repository, or of
// a cache where the repository lies under the temp directory. For a home there codex creates
// no sandbox helper, and what lies there is writable in its sandbox (seen on 0.169.0). Tests
// that run as root start programs as other users, too, and these have to get there.
func Scratch() (string, error) {
	dirs := []string{filepath.Join(root(), ".tools", "tmp")}
	if os.Getuid() == 0 {
		dirs = append(dirs, "/var/cache/molecule-codex-runtime-test")
	} else if cache, err := os.UserCacheDir(); err == nil {
		dirs = append(dirs, filepath.Join(cache, "molecule-codex-runtime", "test"))
	}
	dir := usable(dirs, []string{os.TempDir(), "/tmp"}, os.Getuid() == 0)
	if dir == "" {
		return "", fmt.Errorf("codextest: test directories cannot be in %s: codex runs no command under the temp directory, "+
			"and the users whom root's tests start programs as must get there: move the clone, or set TMPDIR or XDG_CACHE_HOME to a directory elsewhere",
			strings.Join(dirs, " or "))
	}
	return dir, nil
}

// usable returns the first of dirs that lies under none of temps and, if that is asked
// for, can be reached by all users; "" if there is none.
func usable(dirs, temps []string, byAll bool) string {
	for _, dir := range dirs {
		ok := !byAll || reachable(dir)
		for _, temp := range temps {
			ok = ok && !within.Dir(temp, dir)
		}
		if ok {
			return dir
		}
	}
	return ""
}

// reachable reports whether all users may pass the folders above dir.
func reachable(dir string) bool {
	for above := filepath.Dir(within.Real(dir)); above != filepath.Dir(above); above = filepath.Dir(above) {
		if info, err := os.Stat(above); err == nil && info.Mode().Perm()&0o001 == 0 {
			return false
		}
	}
	return true
}
