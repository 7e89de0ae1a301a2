package adapter

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRootsOfFolders: what folders let commands write counts where the operator has said that they
// are trusted, and then in the place of the operator's own.
func TestRootsOfFolders(t *testing.T) {
	dir := t.TempDir()
	work := filepath.Join(dir, "repo/sub/work")
	for name, text := range map[string]string{
		"repo/.git/HEAD":                     "",
		"repo/.codex/config.toml":            "sandbox_workspace_write.writable_roots = ['/of-root']",
		"repo/sub/work/.codex/config.toml":   "sandbox_workspace_write.writable_roots = ['near']",
		".codex/config.toml":                 "sandbox_workspace_write.writable_roots = ['/above']",
		"repo/sub/.codex/config.toml":        "model = 'x'",
		"lone/work/.codex/config.toml":       "sandbox_workspace_write.writable_roots = []",
		"lone/.codex/config.toml":            "sandbox_workspace_write.writable_roots = ['/above']",
		"tree/.git":                          "gitdir: ../main/.git/worktrees/tree\n",
		"tree/.codex/config.toml":            "sandbox_workspace_write.writable_roots = ['/of-tree']",
		"tree/app/x":                         "",
		"main/.git/worktrees/tree/gitdir":    "../../../../tree/.git\n",
		"main/.git/worktrees/tree/commondir": "../..\n",
		"main/.git/HEAD":                     "",
		"broken/.git":                        "gitdir: ../main/.git/worktrees/broken\n",
		"broken/.codex/config.toml":          "sandbox_workspace_write.writable_roots = ['/of-broken']",
		"broken/app/x":                       "",
		"main/.git/worktrees/broken/gitdir":  "../../../../broken/.git\n",
		"copied/.git":                        "gitdir: ../main/.git/worktrees/tree\n",
		"copied/.codex/config.toml":          "sandbox_workspace_write.writable_roots = ['/of-copy']\nmcp_servers.x.command = 'x'",
		"copied/app/x":                       "",
		"bare/.bare/worktrees/w/gitdir":      "../../../w/.git\n",
		"bare/.bare/worktrees/w/commondir":   "../..\n",
		"bare/w/.git":                        "gitdir: ../.bare/worktrees/w\n",
		"bare/w/.codex/config.toml":          "sandbox_workspace_write.writable_roots = ['/of-bare']",
		"bare/w/app/x":                       "",
		"module/.git":                        "gitdir: ../main/.git/modules/module\n",
		"module/.codex/config.toml":          "sandbox_workspace_write.writable_roots = ['/of-module']",
		"module/app/x":                       "",
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
		"worktree":  {dir + "/tree/app", "/h", dir + "/main", []string{"/of-tree"}},
		"its-root":  {dir + "/tree", "/h", dir + "/main", []string{"/own"}}, // of which codex is told
		"copied":    {dir + "/copied/app", "/h", dir + "/main", []string{"/own"}},
		"broken":    {dir + "/broken/app", "/h", dir + "/main", []string{"/own"}}, // no way from it to what it shares
		"bare":      {dir + "/bare/w/app", "/h", dir + "/bare", []string{"/own"}},
		"submodule": {dir + "/module/app", "/h", dir + "/main", []string{"/own"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := Launch{Home: c.home, WorkDir: c.work, Project: lookAt(c.work, c.home, markersOf(nil)),
				UserConfig: "sandbox_workspace_write.writable_roots = ['/own']\n[projects.'" + c.trusted + "']\ntrust_level = 'trusted'"}
			config, _ := l.own()
			if got := l.roots(config); !slices.Equal(got, c.want) {
				t.Errorf("commands write %q, want %q", got, c.want)
			}
			l.Environ = []string{"HOME=/home/me"}
			l.UserConfig = strings.Replace(l.UserConfig, "['/own']", "['~/x', '~', '/own']", 1)
			all := []string{"/home/me/x", "/home/me", "/own"}
			for _, root := range c.want {
				if !slices.Contains(all, root) {
					all = append(all, root)
				}
			}
			if got := l.Written(); !slices.Equal(got, all) {
				t.Errorf("written in all are %q, want %q", got, all)
			}
		})
	}
}

// TestNetworkOfCommands: what the operator's configuration says of it, the home's before the
// machine's, and in the place of both what a folder says that is trusted.
func TestNetworkOfCommands(t *testing.T) {
	const on, off = "[sandbox_workspace_write]\nnetwork_access = true\n", "[sandbox_workspace_write]\nnetwork_access = false\n"
	for name, c := range map[string]struct {
		system, user, folder string
		trusted, want        bool
	}{
		"nothing":     {want: false},
		"user":        {user: on, want: true},
		"dotted":      {user: "sandbox_workspace_write.network_access = true", want: true},
		"system":      {system: on, want: true},
		"user-before": {system: on, user: off, want: false},
		"folder":      {folder: on, trusted: true, want: true},
		"taken-away":  {user: on, folder: off, trusted: true, want: false},
		"not-trusted": {folder: on, want: false},
		"no-bool":     {user: "sandbox_workspace_write.network_access = 'true'", want: false},
		"unread":      {user: "x = ", system: on, want: true},
	} {
		l := Launch{Home: "/h", WorkDir: "/w", SystemConfig: c.system, UserConfig: c.user,
			Project: Project{Names: []string{"/w"}, Folders: []Folder{{Names: []string{"/w"}, Dir: "/w/.codex", Config: c.folder}}}}
		if c.trusted {
			l.UserConfig += "\n[projects.'/w']\ntrust_level = 'trusted'\n"
		}
		if got, known := l.Network(); got != c.want || known != (name != "unread") {
			t.Errorf("%s: %v, want %v; known: %v", name, got, c.want, known)
		}
	}
}
