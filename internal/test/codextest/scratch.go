package codextest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// scratch returns the folder that test directories are made in: one of the
// repository, or of the user's cache where the repository lies under the temp
// directory. For a home there codex creates no sandbox helper, and what lies there
// is writable in its sandbox (seen on 0.169.0).
func scratch(tb testing.TB) string {
	tb.Helper()
	dirs := []string{filepath.Join(Root(tb), ".tools", "tmp")}
	if cache, err := os.UserCacheDir(); err == nil {
		dirs = append(dirs, filepath.Join(cache, "molecule-codex-runtime", "test"))
	}
	dir := outside(dirs, []string{os.TempDir(), "/tmp"})
	if dir == "" {
		tb.Fatalf("codextest: %s lie under the temp directory, where codex runs no command: move the clone, or set XDG_CACHE_HOME to a directory elsewhere",
			strings.Join(dirs, " and "))
	}
	return dir
}

// outside returns the first of dirs that lies under none of temps, "" if all do.
func outside(dirs, temps []string) string {
	for _, dir := range dirs {
		under := false
		for _, temp := range temps {
			under = under || within.Dir(temp, dir)
		}
		if !under {
			return dir
		}
	}
	return ""
}
