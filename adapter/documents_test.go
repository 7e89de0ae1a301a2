package adapter

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// TestOversized: codex reads files of instructions whole, in the folder and above it.
func TestOversized(t *testing.T) {
	t.Parallel()
	sized := func(size int64) func(string) error {
		return func(path string) error {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				return err
			}
			return os.Truncate(path, size)
		}
	}
	l := Launch{Home: t.TempDir()}
	if err := os.WriteFile(filepath.Join(l.Home, "config.toml"), []byte(`project_doc_fallback_filenames = ["OTHER.md"]`), 0o600); err != nil {
		t.Fatal(err) // also when it has come while codex runs
	}
	for name, c := range map[string]struct {
		file  string
		plant func(path string) error
		large bool
	}{
		"small":                                {"AGENTS.md", sized(mostDocument), false},
		"large":                                {"AGENTS.md", sized(mostDocument + 1), true},
		"in its place":                         {"AGENTS.override.md", sized(511 << 20), true},
		"of another name":                      {"OTHER.md", sized(1 << 40), true},
		"not read":                             {"README.md", sized(511 << 20), false},
		"a folder":                             {"AGENTS.md", func(path string) error { return os.Mkdir(path, 0o700) }, false},
		"a pipe":                               {"AGENTS.md", func(path string) error { return syscall.Mkfifo(path, 0o600) }, false},
		"an empty one":                         {"AGENTS.md", sized(0), false},
		"a link to what says that it is empty": {"AGENTS.md", func(path string) error { return os.Symlink("/proc/self/status", path) }, true},
		"a link": {"AGENTS.md", func(path string) error {
			target := filepath.Join(filepath.Dir(path), "target")
			return errors.Join(sized(511<<20)(target), os.Symlink(target, path))
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			above := t.TempDir()
			dir := filepath.Join(above, "a", "b")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			for _, in := range []string{dir, above} {
				path := filepath.Join(in, c.file)
				if err := c.plant(path); err != nil {
					t.Fatal(err)
				}
				if got := l.Oversized(dir); (got == path) != c.large || got != "" && got != path {
					t.Errorf("%s: %q", path, got)
				}
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestDocuments: the names of files of instructions are codex's own, those of the operator, and
// those of folders that are trusted.
func TestDocuments(t *testing.T) {
	t.Parallel()
	l := Launch{Home: "/h", UserConfig: `project_doc_fallback_filenames = ["A.md", 7]`, SystemConfig: `project_doc_fallback_filenames = ["LOWER.md"]`}
	l.UserConfig += "\n[projects.\"/w\"]\ntrust_level = \"trusted\"\n"
	l.Project.Folders = []Folder{
		{Names: []string{"/w"}, Config: "not TOML"}, {Names: []string{"/w"}, Config: `project_doc_fallback_filenames = ["B.md", "AGENTS.md", "A.md"]`},
		{Names: []string{"/x"}, Config: `project_doc_fallback_filenames = ["UNTRUSTED.md"]`},
	}
	if got := l.documents()[2:]; !slices.Equal(got, []string{"A.md", "B.md", "AGENTS.md", "A.md"}) {
		t.Errorf("%q", got)
	}
	if got := (Launch{Home: "/h", UserConfig: `project_doc_fallback_filenames = "A.md"`}).documents(); len(got) != 2 {
		t.Errorf("what is no list: %q", got)
	}
}
