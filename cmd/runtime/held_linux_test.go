package main

import (
	"bytes"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leasetest"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// TestHeldInboundSecret: a command of our own user that holds the file does not shut the
// platform out, also where that has not asked before.
func TestHeldInboundSecret(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{platform.InboundSecretFile: "the-secret\n", platform.TokenFile: "the-token\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	app := &application{redact: logging.NewRedactor()}
	side := app.platformSide(settings.Settings{WorkspaceID: "w", PlatformURL: "http://platform.example", ConfigsDir: dir})
	for name, c := range map[string]struct {
		now  func() string
		want string
	}{
		platform.InboundSecretFile: {side.Secret, "the-secret"},
		platform.TokenFile:         {side.Token, "the-token"},
	} {
		letGo := leasetest.Hold(t, filepath.Join(dir, name))
		if got := c.now(); got != c.want {
			t.Errorf("%s, held: %q", name, got)
		}
		letGo()
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if got := c.now(); got != "" {
			t.Errorf("%s, taken away: %q", name, got)
		}
	}
}

// TestHeldSettings: the runtime does not start without what closes it, and its service starts
// it again.
func TestHeldSettings(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "secrets.d", "RUNTIME_TOKEN")
	if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("a-token-of-sixteen"), 0o600)); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // in any case it comes no further than to this address
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	leasetest.Hold(t, file)
	var out, errs bytes.Buffer
	code := run(t.Context(), nil, []string{
		"HOME=" + t.TempDir(), "WORKSPACE_ID=w", "PLATFORM_URL=http://127.0.0.1:1", "CONFIGS_DIR=" + dir, "RUNTIME_ADDR=" + l.Addr().String(), "RUNTIME_MODEL=scripted",
	}, nil, &out, &errs)
	if code != exitFailed || !strings.Contains(errs.String(), "end the process that has a lease on "+file) {
		t.Errorf("run = %d: %s", code, errs.String())
	}
}
