package serve

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

// TestWarnOpen: a listener on loopback without a token is warned of at the start, and no
// other: those ask for a token, or have a warning of their own.
func TestWarnOpen(t *testing.T) {
	for _, c := range []struct {
		addr, token, workspace string
		want                   bool
	}{
		{"127.0.0.1:8000", "", "", true},
		{"[::1]:8000", "", "", true},
		{"127.0.0.1:8000", "a-token-of-sixteen", "", false},
		{"0.0.0.0:8000", "", "", false},
		{"127.0.0.1:8000", "", "w", false},
	} {
		var log bytes.Buffer
		s := settings.Settings{Addr: c.addr, Token: settings.NewSecret(c.token), WorkspaceID: c.workspace, PlatformURL: c.workspace}
		warnOpen(slog.New(slog.NewTextHandler(&log, nil)), s)
		if got := strings.Count(log.String(), "level=WARN") == 1 && strings.Contains(log.String(), "reverse proxy"); got != c.want {
			t.Errorf("%+v: %s", c, &log)
		}
	}
}
