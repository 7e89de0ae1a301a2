package image

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// TestContext has the image's build see what the program is built from, and nothing that
// lies beside it.
func TestContext(t *testing.T) {
	const module = "github.com/Molecule-AI/molecule-codex-runtime/"
	root := codextest.Root(t)
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "./cmd/runtime")
	list.Dir = root
	packages, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"go.mod", "go.sum", "image", "start.sh"}
	for line := range strings.Lines(string(packages)) {
		if name, ours := strings.CutPrefix(strings.TrimSpace(line), module); ours {
			top, _, _ := strings.Cut(name, "/")
			want = append(want, top)
		}
	}
	slices.Sort(want)
	want = slices.Compact(want)
	ignored, err := os.ReadFile(filepath.Join(root, ".dockerignore"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(ignored)) {
		if name, shown := strings.CutPrefix(strings.TrimSpace(line), "!"); shown {
			got = append(got, name)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf(".dockerignore shows\n%v; the build needs\n%v", got, want)
	}
}
