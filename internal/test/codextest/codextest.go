// Package codextest finds the pinned codex for tests and gives each test a
// home for it. Tests that need the real codex call [Bin] and fail, rather than
// skip, where it is not installed: run make codex.
package codextest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Root returns the root folder of the repository.
func Root(tb testing.TB) string {
	tb.Helper()
	return root()
}

func root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..")
}

// Bin returns the path of the pinned codex: CODEX_BIN, or what make codex installed.
func Bin(tb testing.TB) string {
	tb.Helper()
	if bin := os.Getenv("CODEX_BIN"); bin != "" {
		return bin
	}
	bin := filepath.Join(Root(tb), ".tools", "bin", "codex")
	if _, err := os.Stat(bin); err != nil {
		tb.Fatalf("codextest: no codex at %s: run make codex, or set CODEX_BIN", bin)
	}
	return bin
}

// Version returns the version that the codex of [Bin] says it is.
func Version(tb testing.TB) string {
	tb.Helper()
	out, err := exec.CommandContext(tb.Context(), Bin(tb), "--version").Output()
	if err != nil {
		tb.Fatal(err)
	}
	return strings.TrimPrefix(strings.TrimSpace(string(out)), "codex-cli ")
}

// Home returns a fresh CODEX_HOME that is removed with the test.
func Home(tb testing.TB) string {
	tb.Helper()
	return Dir(tb, "home")
}

// Dir returns a fresh directory beside [Home], for a workspace or a state
// directory of a test, removed with the test, or by the next one where the
// process is killed. It does not lie under the system's temp directory, also
// where the repository does.
func Dir(tb testing.TB, name string) string {
	tb.Helper()
	parent, err := thisRun.enter()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := thisRun.leave(); err != nil {
			tb.Logf("codextest: %v", err)
		}
	})
	dir, err := os.MkdirTemp(parent, name+"-")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			tb.Logf("codextest: %v", err)
		}
	})
	return dir
}
