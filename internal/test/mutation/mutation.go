// Package mutation runs tests on this program with a fault in it: tests that find none are worth little.
package mutation

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// A Fault is a piece of a file of the repository, and what stands there in its place.
type Fault struct{ File, Old, New string }

// Fit has the test fail unless the piece stands in the file once.
func (f Fault) Fit(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(codextest.Root(t), f.File))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), f.Old); n != 1 {
		t.Errorf("%q stands in %s %d times", f.Old, f.File, n)
	}
}

// Test is go test with these arguments, on the program with the fault: what it prints, and its end.
func (f Fault) Test(t *testing.T, args ...string) (string, error) {
	t.Helper()
	root, dir := codextest.Root(t), t.TempDir()
	path := filepath.Join(root, f.File)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{path: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{changed: strings.Replace(string(text), f.Old, f.New, 1), overlay: string(replace)} {
		if err := os.WriteFile(name, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"test", "-vet=off", "-overlay", overlay, "-failfast", "-timeout", "10m"}, args...)...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	return string(out), err
}
