package platform_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// TestSeen: whoever keeps secrets out of logs hears of those in files, of those that
// replace them, and of those that the platform gives out.
func TestSeen(t *testing.T) {
	p := fakeplatform.Start(t, fakeplatform.AUG)
	w := p.Add(fakeplatform.Workspace{})
	file := filepath.Join(t.TempDir(), "token")
	var seen []string
	c := platform.New(platform.Config{
		URL: p.URL, Workspace: w.ID(), Token: platform.Token{Files: []string{file}},
		Seen: func(secrets ...string) { seen = append(seen, secrets...) },
	})
	defer c.Close()
	first := w.Token()
	for _, token := range []string{first, w.Rotate()} {
		if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := c.Heartbeat(t.Context(), platform.Beat{}); err != nil && token != first {
			t.Error(err)
		}
	}
	for name, secret := range map[string]string{"the first token": first, "the second": w.Token(), "the inbound secret": w.InboundSecret()} {
		if !slices.Contains(seen, secret) {
			t.Errorf("%s was not told: %q", name, seen)
		}
	}
}
