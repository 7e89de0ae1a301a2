package adapter

import (
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
