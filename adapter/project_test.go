package adapter

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTrust: what the user has said of a folder stands, and one that brings settings of its
// own does not open the sandbox by them.
func TestTrust(t *testing.T) {
	for name, c := range map[string]struct {
		config  string
		project []string
		want    string
	}{
		"nothing":       {"", nil, "trusted"},
		"itself":        {`[projects."/a/b"]`, nil, ""},
		"above":         {`[projects.'/a']`, nil, ""},
		"beside":        {`[projects."/a/bc"]`, nil, "trusted"},
		"elsewhere":     {"[mcp_servers.a]\ncommand = \"x\"\ncwd = \"/a/b\"", nil, "trusted"},
		"brings":        {"", []string{"rules"}, "untrusted"},
		"brings-chosen": {`[projects."/a/b"]`, []string{"rules"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := Launch{Home: "/h", WorkDir: "/a/b", Sandboxed: true, UserConfig: c.config, Project: c.project}
			config, _ := l.own()
			if got := strings.Join(l.trust(config), " "); c.want == "" && got != "" || c.want != "" && !strings.Contains(got, `trust_level="`+c.want+`"`) {
				t.Errorf("trust is %q, want %q", got, c.want)
			}
			if warned := slices.ContainsFunc(l.doubts(), func(w Warning) bool { return strings.Contains(w.Text, "[projects.\"/a/b\"]") }); warned != (c.want == "untrusted") {
				t.Errorf("warnings: %v", l.doubts())
			}
			if l.Sandboxed = false; c.want == "untrusted" && !strings.Contains(strings.Join(l.trust(config), " "), `"trusted"`) {
				t.Errorf("without a sandbox: %q", l.trust(config))
			}
		})
	}
}

func TestSettled(t *testing.T) {
	dir := t.TempDir()
	if got := settled(dir); got != nil {
		t.Errorf("an empty folder: %q", got)
	}
	for _, name := range []string{"skills", "rules", "prompts"} {
		if err := os.MkdirAll(filepath.Join(dir, ".codex", name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if got := settled(dir); !slices.Equal(got, []string{"rules"}) {
		t.Errorf("%q", got)
	}
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, ".codex"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := settled(other); !slices.Equal(got, []string{".codex"}) {
		t.Errorf("what cannot be read: %q", got)
	}
}
