package doctor

import (
	"slices"
	"testing"
)

// TestScratchEnv: what works somewhere else has that temp directory too; the registers that
// codex makes in the one of all users may be another user's.
func TestScratchEnv(t *testing.T) {
	environ := []string{"A=1", "TMPDIR=/old", "CODEX_HOME=/home"}
	apart := append(slices.Clone(environ), "CODEX_SQLITE_HOME=/databases")
	for name, tt := range map[string]struct {
		at    scratch
		given []string
		want  []string
	}{
		"home":              {scratch{}, apart, apart},
		"a temp of its own": {scratch{tmp: "/t"}, environ, []string{"A=1", "CODEX_HOME=/home", "TMPDIR=/t"}},
		"elsewhere":         {scratch{dir: "/s", tmp: "/s/tmp"}, environ, []string{"A=1", "CODEX_HOME=/s/home", "TMPDIR=/s/tmp"}},
		"databases apart":   {scratch{dir: "/s", tmp: "/s/tmp"}, apart, []string{"A=1", "CODEX_HOME=/s/home", "CODEX_SQLITE_HOME=/s/home", "TMPDIR=/s/tmp"}},
	} {
		if got := tt.at.env(tt.given); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	if !slices.Equal(environ, []string{"A=1", "TMPDIR=/old", "CODEX_HOME=/home"}) {
		t.Errorf("the environment itself is changed: %q", environ)
	}
}
