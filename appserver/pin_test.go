package appserver_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// TestLockfile holds the lockfile, by which codex is installed and put into the image, to
// the pin.
func TestLockfile(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(codextest.Root(t), "image", "codex", "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]struct{ Version, Integrity string }
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		t.Fatal(err)
	}
	for _, platform := range []string{"linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"} {
		got := lock.Packages["node_modules/@openai/codex-"+platform]
		if want := appserver.PinnedVersion() + "-" + platform; got.Version != want || !strings.HasPrefix(got.Integrity, "sha512-") {
			t.Errorf("the lockfile has %q with the checksum %q, want %s", got.Version, got.Integrity, want)
		}
	}
}
