package host

import (
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/requests"
)

// TestWhoHasDecided: what was closed in the name of this runtime, or by the clock, is decided by nobody.
func TestWhoHasDecided(t *testing.T) {
	for _, c := range []struct {
		status, by string
		want       requests.State
	}{
		{"approved", "human", requests.Approved}, {"denied", "human", requests.Denied}, {"denied", "", requests.Denied}, {"pending", "", requests.Pending},
		{"denied", platform.Decided, requests.Lapsed}, {"denied", "auto-expired", requests.Lapsed}, {"expired", "", requests.Lapsed},
		{"approved", platform.Decided, requests.Pending}, {"approved", "auto-policy", requests.Pending}, {"cancelled", "human", requests.Pending},
	} {
		if got := requests.StateOf(c.status, c.by); got != c.want {
			t.Errorf("%s by %q: %d, want %d", c.status, c.by, got, c.want)
		}
	}
}
