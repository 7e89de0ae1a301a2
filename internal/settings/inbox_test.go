package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInboxSettings: what an MCP host's entry has is enough, whatever is set, or wrong, of codex's.
func TestInboxSettings(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".auth_token"), []byte("t"), 0o600); err != nil {
		t.Fatal(err)
	}
	one := []string{"HOME=" + home, "WORKSPACE_ID=w1", "PLATFORM_URL=https://p.example/"}
	for name, c := range map[string]struct {
		more        []string
		token, file string
		problem     string
	}{
		"a token":             {[]string{"MOLECULE_WORKSPACE_TOKEN=t1"}, "t1", "", ""},
		"a file":              {[]string{"MOLECULE_WORKSPACE_TOKEN_FILE=~/t"}, "", home + "/t", ""},
		"the platform's file": {[]string{"CONFIGS_DIR=" + home}, "", home + "/.auth_token", ""},
		"none":                {[]string{"CONFIGS_DIR=" + home + "/none"}, "", "", "the workspace has no token"},
		"no codex":            {[]string{"MOLECULE_WORKSPACE_TOKEN=t1", "RUNTIME_TOOLS=mcp", "CODEX_USER=nobody-of-that-name", "RUNTIME_WORKDIR=" + home}, "t1", "", ""},
	} {
		s, err := LoadInbox(append(one, c.more...))
		if c.problem != "" {
			if err == nil || !strings.Contains(Problems(err)[0].What, c.problem) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || len(s.Spaces) != 1 || s.Spaces[0].URL != "https://p.example" || s.Spaces[0].Token.Reveal() != c.token || s.Spaces[0].TokenFile != c.file {
			t.Errorf("%s: %+v, %v", name, s.Spaces, err)
		}
		if s.StateDir != home+"/.codex-channel-molecule" || s.InWorkspace() {
			t.Errorf("%s: the state is in %s", name, s.StateDir)
		}
	}
	if s, err := LoadInbox([]string{"HOME=" + home, `MOLECULE_WORKSPACES=[{"id":"a","token":"t","platform_url":"http://p"},{"id":"b","token":"t","platform_url":"http://p"}]`}); err != nil || strings.Join(s.WorkspaceIDs(), " ") != "a b" {
		t.Errorf("%+v, %v", s.Spaces, err)
	}
}
