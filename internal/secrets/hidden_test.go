package secrets

import (
	"slices"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

// TestHiddenTokens: the tokens of all workspaces of a channel are handed out by none of them.
func TestHiddenTokens(t *testing.T) {
	all := Hidden(settings.Settings{TokenFile: "/t/0", Spaces: []settings.Space{{TokenFile: "/t/1"}, {}, {TokenFile: "/t/2"}}})
	for _, file := range []string{"/t/0", "/t/1", "/t/2"} {
		if !slices.Contains(all, file) {
			t.Errorf("%s is not among %q", file, all)
		}
	}
}
