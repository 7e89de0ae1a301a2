package serve

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leasetest"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// TestHeldInboundSecret: a command of our own user that holds the file does not shut the
// platform out, also where that has not asked before.
func TestHeldInboundSecret(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{platform.InboundSecretFile: "the-secret\n", platform.TokenFile: "the-token\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := &link{s: settings.Settings{ConfigsDir: dir}, redact: logging.NewRedactor(), tokens: &regular.Keeper{}}
	side := l.side(nil, "")
	for name, c := range map[string]struct {
		now  func() string
		want string
	}{
		platform.InboundSecretFile: {side.Secret, "the-secret"},
		platform.TokenFile:         {side.Token, "the-token"},
	} {
		letGo := leasetest.Hold(t, filepath.Join(dir, name))
		if got := c.now(); got != c.want {
			t.Errorf("%s, held: %q", name, got)
		}
		letGo()
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if got := c.now(); got != "" {
			t.Errorf("%s, taken away: %q", name, got)
		}
	}
}
