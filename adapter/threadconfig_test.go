package adapter

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// TestThreadConfig has what has come since codex was started, and takes nothing back of what it was
// started with.
func TestThreadConfig(t *testing.T) {
	home, work := t.TempDir(), t.TempDir()
	config := filepath.Join(home, "config.toml")
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const old = "[mcp_servers.old]\ncommand = 'x'\n"
	write(config, old)
	s := NewSetup(SetupConfig{Logger: slog.New(slog.DiscardHandler)})
	started := Launch{Home: home, WorkDir: work, Sandboxed: true, OwnTools: true}
	if err := started.readConfig(); err != nil {
		t.Fatal(err)
	}
	if got := s.ThreadConfig(started); got != nil {
		t.Errorf("nothing has come: %v", got)
	}
	write(config, old+"[mcp_servers.new]\ncommand = 'y'\n[mcp_servers.'a.b']\ncommand = 'y'\n[mcp_servers.own]\ncommand = 'y'\ncwd = '/srv'\n[mcp_servers.molecule-x]\ncommand = 'y'\n")
	write(filepath.Join(work, ".codex", "rules", "x.rules"), "")
	want := map[string]any{
		"mcp_servers.new":        map[string]any{"command": "y", "cwd": home},
		"mcp_servers.molecule-x": map[string]any{"command": "y", "cwd": home, "enabled": false},
		"projects":               map[string]any{work: map[string]any{"trust_level": "untrusted"}},
	}
	if got := s.ThreadConfig(started); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	write(config, old+"[projects.'"+work+"']\ntrust_level = 'trusted'\n")
	if got := s.ThreadConfig(started); got != nil {
		t.Errorf("the user trusts it: %v", got)
	}
}

// TestFolderThatIsReplaced: a .codex that is not the one which codex's commands have to be read is
// not trusted, whatever is in it and whatever the user says of it, until codex is started again.
func TestFolderThatIsReplaced(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte("[projects.'/none']\ntrust_level = 'trusted'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	remove := func(dir string) error { return os.RemoveAll(dir) }
	for name, c := range map[string]struct {
		change   func(dir string) error
		danger   bool // there is no sandbox that commands would be kept in
		replaced bool
	}{
		"kept":    {func(dir string) error { return os.WriteFile(filepath.Join(dir, "README.md"), nil, 0o600) }, false, false},
		"gone":    {remove, false, true},
		"another": {func(dir string) error { return errors.Join(remove(dir), os.Mkdir(dir, 0o700)) }, false, true},
		"a file":  {func(dir string) error { return errors.Join(remove(dir), os.WriteFile(dir, nil, 0o600)) }, false, true},
		"danger":  {func(dir string) error { return errors.Join(remove(dir), os.Mkdir(dir, 0o700)) }, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			work := t.TempDir()
			restarts := 0
			s := NewSetup(SetupConfig{
				Logger: slog.New(slog.DiscardHandler), Replaced: func() { restarts++ },
				Launch: Launch{Home: home, WorkDir: work, Sandboxed: !c.danger},
			})
			for range 2 {
				started, err := s.Prepare(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if got := s.ThreadConfig(started); got != nil || restarts != 0 {
					t.Fatalf("nothing has come: %v, %d restarts", got, restarts)
				}
				if err := c.change(filepath.Join(work, ".codex")); err != nil {
					t.Fatal(err)
				}
				if got := s.ThreadConfig(started); (got["projects"] != nil) != c.replaced || (restarts == 1) != c.replaced {
					t.Errorf("%v, %d restarts", got, restarts)
				}
				restarts = 0
				if name == "a file" { // it settles something by itself
					return
				}
			}
		})
	}
}
