package main

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// TestCloseTokens: a token that the platform has written for all to read is the runtime's alone before a
// command can read it, and stays what it is.
func TestCloseTokens(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("this takes root")
	}
	other, err := asuser.Lookup("4242:4242")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	token, secret := filepath.Join(dir, platform.TokenFile), filepath.Join(dir, platform.InboundSecretFile)
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o755), os.WriteFile(token, []byte("the-token\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	app := &application{log: slog.New(slog.DiscardHandler)}
	app.closeTokens(settings.Settings{User: other, WorkspaceID: "w", PlatformURL: "http://platform", ConfigsDir: dir})
	text, err := os.ReadFile(token)
	info, missing := os.Stat(token)
	if errors.Join(err, missing) != nil || string(text) != "the-token\n" || info.Mode().Perm() != 0o600 {
		t.Errorf("%q, %v, %v", text, info.Mode(), errors.Join(err, missing))
	}
	if _, err := os.Stat(secret); err == nil {
		t.Error("a secret is there that was none")
	}
}
