package prompt_test

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/prompt"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

const secret = "TOKEN of the workspace"

// twoUsers is a folder of ours with a secret in it, and with folders of another user, who
// has put other names for that secret into them.
func twoUsers(t *testing.T) (dir string, other *asuser.User) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("this takes root")
	}
	other, err := asuser.Lookup("4242:4242")
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "configs")
	put(t, dir, map[string]string{
		".auth_token": secret, "ours.md": "PRIVATE", "prompts/theirs.md": "PROMPT of theirs",
		"..2026/mounted.md": "PROMPT that is mounted", "prompts/a": "", "skills/dig/a": "", "skills/sum/SKILL.md": "SKILL",
		"plugins/p/fine.md": "FRAGMENT", "plugins/p/rules/fine.md": "RULE", "plugins/shut/a.md": "SHUT",
	})
	errs := []error{
		os.Chmod(filepath.Dir(filepath.Dir(dir)), 0o755), os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o755),
		os.Chmod(filepath.Join(dir, "..2026"), 0o755), os.Chmod(filepath.Join(dir, "..2026/mounted.md"), 0o644),
		os.Symlink("..2026", filepath.Join(dir, "..data")), os.Symlink("..data/mounted.md", filepath.Join(dir, "mounted.md")),
		os.Symlink("../.auth_token", filepath.Join(dir, "prompts/link.md")), os.Symlink("..", filepath.Join(dir, "prompts/up")),
		os.Symlink("../../.auth_token", filepath.Join(dir, "skills/dig/SKILL.md")),
		os.Link(filepath.Join(dir, ".auth_token"), filepath.Join(dir, "plugins/p/hard.md")),
		os.Link(filepath.Join(dir, ".auth_token"), filepath.Join(dir, "plugins/p/rules/hard.md")),
	}
	for _, name := range []string{"prompts", "skills", "plugins"} {
		errs = append(errs, filepath.WalkDir(filepath.Join(dir, name), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.Name() == "hard.md" || entry.Name() == "shut" {
				return err
			}
			return os.Lchown(path, int(other.UID), int(other.GID))
		}))
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return dir, other
}

// TestFilesOfTwoUsers are read as codex's user: neither links nor hard links give it what it
// may not read, and what only it may read is read.
func TestFilesOfTwoUsers(t *testing.T) {
	dir, other := twoUsers(t)
	var log bytes.Buffer
	b := prompt.New(prompt.Config{
		Dir: dir, User: other, Files: []string{"prompts/theirs.md", "mounted.md", "ours.md", "prompts/link.md", "prompts/up/.auth_token"},
		Skills: []string{"sum", "dig"}, Plugins: []string{filepath.Join(dir, "plugins"), filepath.Join(dir, "none")},
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	want := "PROMPT of theirs\n\nPROMPT that is mounted\n\n## Platform Rules\n\nRULE\n\n## Platform Guidelines\n\nFRAGMENT\n\n## Your Skills\n\n### sum\n\nSKILL"
	if text := b.Text(); text != want {
		t.Errorf("the prompt is %q", text)
	}
	b.Refresh(t.Context())
	for _, name := range []string{"ours.md", "prompts/link.md", "prompts/up/.auth_token", "dig/SKILL.md", "p/hard.md", "p/rules/hard.md"} {
		if n := strings.Count(log.String(), "left out\" file="+name+" "); n != 1 {
			t.Errorf("%s is said %d times not to be read", name, n)
		}
	}
	if !strings.Contains(log.String(), "dir="+filepath.Join(dir, "plugins/shut")) || strings.Count(log.String(), "let user 4242 read it, whom codex runs as") != 6 {
		t.Errorf("the log says: %s", &log)
	}
}

// TestReadFileOfTwoUsers has an initial prompt be what codex's user may read.
func TestReadFileOfTwoUsers(t *testing.T) {
	dir, other := twoUsers(t)
	for name, want := range map[string]string{"prompts/theirs.md": "PROMPT of theirs", "mounted.md": "PROMPT that is mounted", "ours.md": "", "prompts/link.md": "", "plugins/p/hard.md": ""} {
		text, err := prompt.ReadFile(dir, name, other)
		if text != want || (want == "") != errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}
