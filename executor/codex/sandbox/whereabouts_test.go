package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/ask"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// TestWhereabouts: a path leads where its links do, and what is no path leads nowhere.
func TestWhereabouts(t *testing.T) {
	t.Parallel()
	dir := codextest.Dir(t, "links")
	link, missing := filepath.Join(dir, "link"), filepath.Join(dir, "missing")
	if err := os.Symlink(missing, link); err != nil {
		t.Fatal(err)
	}
	got := New(Terms{}).Whereabouts([]string{link, "", "relative", missing})
	if want := []ask.Place{{Path: link, Led: missing, There: true}, {Path: missing, Led: missing}}; !slices.Equal(got, want) {
		t.Errorf("they lead to %v, want %v", got, want)
	}
}
