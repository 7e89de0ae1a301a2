package rollout_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/rollout"
)

// TestFiles finds and removes the files of one thread, and no others.
func TestFiles(t *testing.T) {
	home := t.TempDir()
	files := rollout.Home{Dir: home}
	put := func(name string) string {
		t.Helper()
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const live, archived, other = "00000000-0000-7000-8000-000000000001", "00000000-0000-7000-8000-000000000002", "00000000-0000-7000-8000-000000000003"
	put("sessions/2026/11/21/rollout-2026-11-21T16-18-41-" + live + ".jsonl")
	put("archived_sessions/rollout-2026-11-21T16-18-41-" + archived + ".jsonl")
	put("sessions/2026/11/22/rollout-2026-11-22T16-18-41-" + live + "_2.jsonl.zst")
	if err := syscall.Mkfifo(filepath.Join(home, "sessions/2027"), 0o600); err != nil { // which a command may do
		t.Fatal(err)
	}
	kept := put("sessions/2026/11/21/rollout-2026-11-21T16-18-41-" + other + ".jsonl")
	has := func(thread string, want bool) {
		t.Helper()
		if got, err := files.Has(thread); err != nil || got != want {
			t.Errorf("Has(%q) = %v, %v, want %v", thread, got, err, want)
		}
	}
	has(live, true)
	has(archived, false)
	for _, thread := range []string{"", "*", "../" + live, "00000000-0000-7000-8000-000000000009"} {
		has(thread, false)
	}
	for range 2 {
		left, err := files.Remove([]string{live, "*", archived})
		if err != nil || len(left) != 1 || left["*"] == nil {
			t.Errorf("a pattern is no thread; left are %v, %v", left, err)
		}
	}
	has(live, false)
	if left, err := filepath.Glob(filepath.Join(home, "sessions/*/*/*/*")); err != nil || len(left) != 1 {
		t.Errorf("left: %q, %v", left, err)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
}
