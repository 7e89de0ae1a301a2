package adapter

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestRootsOfFolders: what folders let commands write counts where the operator has said that they
// are trusted, and then in the place of the operator's own.
func TestRootsOfFolders(t *testing.T) {
	dir := t.TempDir()
	work := filepath.Join(dir, "repo/sub/work")
	for name, text := range map[string]string{
		"repo/.git/HEAD":                   "",
		"repo/.codex/config.toml":          "sandbox_workspace_write.writable_roots = ['/of-root']",
		"repo/sub/work/.codex/config.toml": "sandbox_workspace_write.writable_roots = ['near']",
		".codex/config.toml":               "sandbox_workspace_write.writable_roots = ['/above']",
		"repo/sub/.codex/config.toml":      "model = 'x'",
		"lone/work/.codex/config.toml":     "sandbox_workspace_write.writable_roots = []",
		"lone/.codex/config.toml":          "sandbox_workspace_write.writable_roots = ['/above']",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		work, home string
		trusted    string
		want       []string
	}{
		"nothing":   {work, "/h", "", []string{"/own"}},
		"itself":    {work, "/h", work, []string{work + "/.codex/near"}},
		"root":      {work, "/h", dir + "/repo", []string{work + "/.codex/near"}},
		"no-config": {work + "/broken", "/h", work + "/broken", []string{"/own"}},
		"of-root":   {work + "/broken", work + "/.codex", dir + "/repo", []string{"/of-root"}},
		"above":     {work, "/h", dir, []string{"/own"}},
		"none":      {dir + "/lone/work", "/h", dir + "/lone/work", nil},
	} {
		t.Run(name, func(t *testing.T) {
			l := Launch{Home: c.home, WorkDir: c.work, Project: lookAt(c.work, c.home),
				UserConfig: "sandbox_workspace_write.writable_roots = ['/own']\n[projects.'" + c.trusted + "']\ntrust_level = 'trusted'"}
			config, _ := l.own()
			if got := l.roots(config); !slices.Equal(got, c.want) {
				t.Errorf("commands write %q, want %q", got, c.want)
			}
			if own := l.Written(); !slices.Equal(own, []string{"/own"}) {
				t.Errorf("the operator's own are %q", own)
			}
		})
	}
}
