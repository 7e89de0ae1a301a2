package secrets

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
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
	log := slog.New(slog.DiscardHandler)
	CloseTokens(settings.Settings{User: other, WorkspaceID: "w", PlatformURL: "http://platform", ConfigsDir: dir}, log, nil)
	text, err := os.ReadFile(token)
	info, missing := os.Stat(token)
	if errors.Join(err, missing) != nil || string(text) != "the-token\n" || info.Mode().Perm() != 0o600 {
		t.Errorf("%q, %v, %v", text, info.Mode(), errors.Join(err, missing))
	}
	if _, err := os.Stat(secret); err == nil {
		t.Error("a secret is there that was none")
	}
	// One that comes later is closed, too.
	ctx, cancel := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() {
		WatchTokens(ctx, settings.Settings{User: other, WorkspaceID: "w", PlatformURL: "http://platform", ConfigsDir: dir}, log)
	})
	for _, text := range []string{"the-secret", "another"} { // the second one at least comes behind the first look
		fresh := filepath.Join(dir, "fresh")
		if err := errors.Join(os.WriteFile(fresh, []byte(text), 0o644), os.Chtimes(fresh, time.Unix(0, 0), time.Unix(0, 0)), os.Rename(fresh, secret)); err != nil {
			t.Fatal(err)
		}
		progtest.WaitFor(t, "the secret to be closed", func() bool {
			info, err := os.Stat(secret)
			return err == nil && info.Mode().Perm() == 0o600
		})
	}
	cancel()
	watching.Wait()
	// A file that another user renews stays, and so does one that is being written.
	renewed := filepath.Join(dir, "renewed")
	if err := errors.Join(os.WriteFile(renewed, []byte("x"), 0o644), os.Chown(renewed, 4299, 4299), os.Remove(token), os.Symlink(renewed, token), os.WriteFile(secret, nil, 0o600), os.Chmod(secret, 0o644)); err != nil {
		t.Fatal(err)
	}
	CloseTokens(settings.Settings{User: other, WorkspaceID: "w", PlatformURL: "http://platform", ConfigsDir: dir, TokenFile: renewed}, log, map[string]bool{})
	for name, want := range map[string]os.FileMode{token: os.ModeSymlink | 0o777, renewed: 0o644, secret: 0o644} {
		if info, err := os.Lstat(name); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}
