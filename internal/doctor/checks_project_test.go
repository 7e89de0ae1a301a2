package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

// TestProjectCheck: what a branch can bring with which codex loads no conversation, or its sandbox
// runs no command.
func TestProjectCheck(t *testing.T) {
	for name, c := range map[string]struct {
		bring func(work string) error
		want  preflight.Status
		says  string
	}{
		"nothing":  {func(string) error { return nil }, preflight.OK, "codex can read"},
		"settings": {func(work string) error { return os.WriteFile(work+"/.codex/config.toml", nil, 0o600) }, preflight.OK, "codex can read"},
		"a folder": {func(work string) error { return os.Mkdir(work+"/.codex/config.toml", 0o700) }, preflight.Fail, "config.toml is no file"},
		"a loop":   {func(work string) error { return os.Symlink("config.toml", work+"/.codex/config.toml") }, preflight.Fail, "cannot be read"},
		"of /proc": {func(work string) error { return os.Symlink("/proc/self/environ", work+"/.codex/config.toml") }, preflight.Fail, "1 MiB"},
		"a link":   {func(work string) error { return os.Symlink("sub", work+"/.agents") }, preflight.Warn, ".agents is a link"},
		"a file": {func(work string) error {
			return errors.Join(os.Remove(work+"/.codex"), os.WriteFile(work+"/.codex", nil, 0o600))
		}, preflight.OK, "codex can read"},
		"no text": {func(work string) error { return os.WriteFile(work+"/.codex/config.toml", []byte("x = '\xff'"), 0o600) }, preflight.Fail, "UTF-8"},
		"above": {func(work string) error {
			above := filepath.Dir(work)
			return errors.Join(os.MkdirAll(above+"/.codex/config.toml", 0o700), os.Mkdir(above+"/.git", 0o700), os.WriteFile(above+"/.git/HEAD", nil, 0o600))
		}, preflight.Fail, "config.toml is no file"},
		"a link in": {func(work string) error { return os.Symlink("sub", work+"/.codex/skills") }, preflight.OK, "codex can read"},
		"large": {func(work string) error {
			path := work + "/.codex/config.toml"
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 2<<20))
		}, preflight.Fail, "1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			work := filepath.Join(t.TempDir(), "work")
			if err := errors.Join(os.MkdirAll(filepath.Join(work, ".codex"), 0o700), c.bring(work)); err != nil {
				t.Fatal(err)
			}
			s := settings.Settings{WorkDir: work, Sandbox: "workspace-write", CodexHome: t.TempDir()}
			got := projectCheck(s, nil).Run(t.Context())
			if got.Status != c.want || !strings.Contains(got.Detail, c.says) {
				t.Errorf("%+v", got)
			}
		})
	}
}
