package adapter

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestTrust: what the user has said of a folder stands, and one that brings settings of its
// own does not open the sandbox by them. codex is told in every case.
func TestTrust(t *testing.T) {
	const brings = "brings"
	for name, c := range map[string]struct {
		config, brings string
		want           string
	}{
		"nothing":            {"", "", "trusted"},
		"itself":             {`[projects."/a/link"]` + "\ntrust_level='untrusted'", "", "untrusted"},
		"resolved":           {`[projects."/a/b"]` + "\ntrust_level='untrusted'", "", "untrusted"},
		"resolved-first":     {`projects={"/a/b"={trust_level="untrusted"},"/a/link"={trust_level="trusted"}}`, brings, "untrusted"},
		"no-level":           {`[projects."/a/b"]`, brings, "untrusted"},
		"above":              {`[projects.'/a']` + "\ntrust_level='trusted'", brings, "untrusted"},
		"above-untrusted":    {`[projects.'/a']` + "\ntrust_level='untrusted'", brings, "untrusted"},
		"all":                {`[projects.'/']` + "\ntrust_level='trusted'", brings, "untrusted"},
		"root":               {`[projects.'/r']` + "\ntrust_level='trusted'", brings, "trusted"},
		"root-untrusted":     {`[projects.'/r']` + "\ntrust_level='untrusted'", "", "untrusted"},
		"itself-before-root": {`projects={"/r"={trust_level="untrusted"},"/a/link"={trust_level="trusted"}}`, brings, "trusted"},
		"beside":             {`[projects."/a/bc"]` + "\ntrust_level='trusted'", brings, "untrusted"},
		"elsewhere":          {"[mcp_servers.a]\ncommand = \"x\"\ncwd = \"/a/b\"", "", "trusted"},
		"brings":             {"", brings, "untrusted"},
		"brings-chosen":      {`[projects."/a/b"]` + "\ntrust_level='trusted'", brings, "trusted"},
	} {
		t.Run(name, func(t *testing.T) {
			l := Launch{Home: "/h", WorkDir: "/a/link", UserConfig: c.config, Project: Project{Names: []string{"/a/b", "/a/link"}, Root: []string{"/r"}}}
			if c.brings != "" {
				l.Project.Settles = []string{c.brings}
			}
			config, _ := l.own()
			for _, l.Sandboxed = range []bool{true, false} {
				want := `projects={"/a/b"={trust_level="` + c.want + `"},"/a/link"={trust_level="` + c.want + `"}}`
				if got := strings.Join(l.trust(config), " "); got != "-c "+want {
					t.Errorf("trust is %q, want %q", got, want)
				}
				said := strings.Contains(c.config, `"/a`) && strings.Contains(c.config, "untrusted") // by the user, who needs no warning
				if warned := slices.ContainsFunc(l.doubts(), func(w Warning) bool { return strings.Contains(w.Text, "[projects.\"/a/link\"]") }); warned != (c.brings != "" && c.want == "untrusted" && !said) {
					t.Errorf("warnings: %v", l.doubts())
				}
			}
		})
	}
}

// TestLookAt: of a folder count its own name, with its symlinks resolved before, and that of
// the root of its repository; codex's home in it is nothing that the folder brings.
func TestLookAt(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work, link := filepath.Join(root, "a", "b"), filepath.Join(root, "a", "link")
	for _, dir := range []string{".git", "a/b/.codex/rules"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(work, link), os.WriteFile(filepath.Join(root, ".git", "HEAD"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	p := lookAt(link, "/h", markersOf(nil))
	if !slices.Equal(p.Names, []string{work, link}) || !slices.Equal(p.Root, []string{root}) || !slices.Equal(p.Settles, []string{"rules"}) {
		t.Errorf("%+v", p)
	}
	if p := lookAt(work, filepath.Join(link, ".codex"), markersOf(nil)); !slices.Equal(p.Names, []string{work}) || p.Settles != nil {
		t.Errorf("with codex's home in it: %+v", p)
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

// TestSettledByMany: commands may put anything into a folder's .codex, or in its place.
func TestSettledByMany(t *testing.T) {
	dir := t.TempDir()
	at := filepath.Join(dir, ".codex")
	if err := syscall.Mkfifo(at, 0o600); err != nil {
		t.Fatal(err)
	}
	if names := settled(dir); !slices.Equal(names, []string{".codex"}) {
		t.Errorf("by a pipe: %q", names)
	}
	if err := errors.Join(os.Remove(at), os.Mkdir(at, 0o700)); err != nil {
		t.Fatal(err)
	}
	for i := range 2 * mostSettles {
		if err := os.WriteFile(filepath.Join(at, fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if names := settled(dir); len(names) != mostSettles+1 || names[mostSettles] != "and more" {
		t.Errorf("by many: %q", names)
	}
}

// TestMarkers: below a repository codex is told how to know its root, since the .git that we keep in
// the work directory would be one to it.
func TestMarkers(t *testing.T) {
	for name, c := range map[string]struct {
		git    string // of the folder above
		config string
		want   string
	}{
		"none":          {"", "", ""},
		"empty":         {".git/objects/x", "", ""},
		"repository":    {".git/HEAD", "", `[".git/HEAD"]`},
		"worktree":      {".git", "", `["a/work/.git/.gitignore"]`},
		"own":           {".git/HEAD", "project_root_markers = ['go.mod', '.git']", `["go.mod",".git/HEAD"]`},
		"own without":   {".git/HEAD", "project_root_markers = ['go.mod']", ""},
		"in itself":     {"a/work/.git/HEAD", "", ""},
		"file in it":    {"a/work/.git", "", ""},
		"one in an own": {"a/.git/HEAD", "", `[".git/HEAD"]`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			work := filepath.Join(dir, "a", "work")
			if err := os.MkdirAll(work, 0o700); err != nil {
				t.Fatal(err)
			}
			if c.git != "" {
				if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, c.git)), 0o700), os.WriteFile(filepath.Join(dir, c.git), nil, 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			if err := Occupy(work, nil); err != nil {
				t.Fatal(err)
			}
			l := Launch{WorkDir: work, UserConfig: c.config, Project: lookAt(work, "/h", markersOf(nil))}
			config, _ := l.own()
			got := strings.TrimPrefix(strings.Join(l.markers(config), " "), "-c project_root_markers=")
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
