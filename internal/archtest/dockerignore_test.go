package archtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// TestDockerignore sees that the image is built from all that the program is made of:
// .dockerignore names what is let through.
func TestDockerignore(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(codextest.Root(t), ".dockerignore"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for path := range strings.Lines(string(goList(t, "-deps", "./cmd/runtime"))) {
		ours, ok := strings.CutPrefix(strings.TrimSpace(path), module)
		if top, _, _ := strings.Cut(ours, "/"); ok && !slices.Contains(lines, "!"+top) {
			t.Errorf("the image is built without %s: let !%s through in .dockerignore", ours, top)
		}
	}
}
