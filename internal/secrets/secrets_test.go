package secrets

import (
	"fmt"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

// TestSecretsOfThePlatform: one that gives out ever new ones has the newest of them kept.
func TestSecretsOfThePlatform(t *testing.T) {
	redact := logging.NewRedactor()
	seen := PlatformConfig(settings.Settings{}, redact).Seen
	for i := range 33 { // docs/security.md has the number
		seen(fmt.Sprintf("token-%d.", i))
	}
	if got, want := redact.Known("token-0. token-1. token-32."), "token-0. *** ***"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
