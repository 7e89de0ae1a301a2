package doctor

import (
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// TestHostInboxCheck: whether an MCP host would keep its inbox, and who does.
func TestHostInboxCheck(t *testing.T) {
	dir := t.TempDir()
	environ := []string{"HOME=" + dir, "WORKSPACE_ID=w1", "PLATFORM_URL=http://p", "CONFIGS_DIR=" + dir + "/none", "RUNTIME_STATE_DIR=" + dir}
	s, _, err := settings.LoadMCP(environ)
	if err != nil {
		t.Fatal(err)
	}
	look := func(want preflight.Status, words string, environ ...string) {
		t.Helper()
		got := inboxCheck(Case{Settings: s, Environ: environ})[0].Run(t.Context())
		if got.Status != want || !strings.Contains(got.Detail, words) || want == preflight.Warn && got.Fix == "" {
			t.Errorf("%+v, want %q", got, words)
		}
	}
	look(preflight.Warn, "the workspace has no token", environ...)
	environ = append(environ, "MOLECULE_WORKSPACE_TOKEN=t")
	look(preflight.OK, "this keeps it, in "+dir, environ...)
	for holds, words := range map[string]string{"w1": "takes the inbox over when that ends", "w2": "for other workspaces"} {
		state, err := store.Open(t.Context(), store.Config{Dir: dir, Holds: []string{holds}})
		if err != nil {
			t.Fatal(err)
		}
		want := preflight.OK
		if holds == "w2" {
			want = preflight.Warn
		}
		look(want, words, environ...)
		if err := state.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if all := inboxCheck(Case{Settings: settings.Settings{}}); len(all) != 0 {
		t.Errorf("standing alone: %+v", all)
	}
}
