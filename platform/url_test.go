package platform_test

import (
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

func TestWorkspaceURL(t *testing.T) {
	for _, c := range []struct{ given, host, want string }{
		{"http://localhost:49152", "abc", "http://localhost:49152"},
		{"", "4f1c", "http://4f1c:8000"},
		{"", "", "http://localhost:8000"},
	} {
		if got := platform.WorkspaceURL(c.given, c.host, 8000); got != c.want {
			t.Errorf("%q, %q: %s, want %s", c.given, c.host, got, c.want)
		}
	}
}
