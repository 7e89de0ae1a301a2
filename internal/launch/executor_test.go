package launch

import (
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

// TestNetworkInAWorkspace: what the platform shows, a command can read that is of our own user, and
// call with it as callers do.
func TestNetworkInAWorkspace(t *testing.T) {
	token, other := settings.NewSecret("a-token-of-sixteen"), &asuser.User{UID: 1}
	for name, c := range map[string]struct {
		settings.Settings
		may bool
	}{
		"alone, without a token":           {settings.Settings{}, true},
		"alone":                            {settings.Settings{Token: token}, false},
		"a workspace":                      {settings.Settings{Token: token, WorkspaceID: "w", PlatformURL: "p"}, true},
		"a workspace of two users":         {settings.Settings{Token: token, WorkspaceID: "w", PlatformURL: "p", User: other}, false},
		"of two users, without a token":    {settings.Settings{WorkspaceID: "w", PlatformURL: "p", User: other}, true},
		"a channel, which nobody can call": {settings.Settings{Spaces: []settings.Space{{}}}, false},
		"with half a platform":             {settings.Settings{Token: token, WorkspaceID: "w"}, false},
	} {
		if got := CommandsMayCall(c.Settings); got != c.may {
			t.Errorf("%s: commands may call: %t", name, got)
		}
	}
}
