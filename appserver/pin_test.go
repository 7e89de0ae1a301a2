package appserver_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// TestWindow: the pinned codex was tried, and others; the checksums of the pinned one are those of the lockfile.
func TestWindow(t *testing.T) {
	all := appserver.TriedVersions()
	if len(all) < 6 || !slices.Contains(all, appserver.PinnedVersion()) {
		t.Errorf("tried: %v, with %s pinned", all, appserver.PinnedVersion())
	}
	text, err := os.ReadFile(filepath.Join(codextest.Root(t), "appserver", "CODEX_WINDOW"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if version, sums, _ := strings.Cut(line, " "); version == appserver.PinnedVersion() {
			for _, platform := range platforms {
				if want := platform + "=" + locked(t, platform).Integrity; !slices.Contains(strings.Fields(sums), want) {
					t.Errorf("the window does not have %s", want)
				}
			}
		}
	}
}

var platforms = []string{"linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"}

// TestLockfile holds the lockfile, by which codex is installed and put into the image, to
// the pin.
func TestLockfile(t *testing.T) {
	for _, platform := range platforms {
		got := locked(t, platform)
		if want := appserver.PinnedVersion() + "-" + platform; got.Version != want || !strings.HasPrefix(got.Integrity, "sha512-") {
			t.Errorf("the lockfile has %q with the checksum %q, want %s", got.Version, got.Integrity, want)
		}
	}
}

type pack struct{ Version, Integrity string }

// locked is the package of a platform, as the lockfile has it.
func locked(t *testing.T, platform string) pack {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(codextest.Root(t), "image", "codex", "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]pack
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		t.Fatal(err)
	}
	return lock.Packages["node_modules/@openai/codex-"+platform]
}
