package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

func TestStateCheck(t *testing.T) {
	dir := t.TempDir()
	look := func(status preflight.Status, want string) {
		t.Helper()
		if r := stateCheck(dir).Do(t.Context()); r.Status != status || !strings.Contains(r.Detail, want) {
			t.Errorf("%s %q, want %s %q", r.Status, r.Detail, status, want)
		}
	}
	look(preflight.OK, "nothing in it yet")
	s := openStore(t, dir)
	look(preflight.OK, "in use by process")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	look(preflight.OK, "KiB")
	if err := os.WriteFile(filepath.Join(dir, "state.db"), []byte("no database at all, but long enough to be one"), 0o600); err != nil {
		t.Fatal(err)
	}
	look(preflight.Fail, "damaged")
}

func openStore(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
