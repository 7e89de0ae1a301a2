package serve

import (
	"bytes"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/host"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

// TestUnheard: an address that is taken is said to be taken, and no other.
func TestUnheard(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	for addr, want := range map[string]string{ln.Addr().String(): "another program listens there", "192.0.2.1:0": "one of this machine's"} {
		err := Run(t.Context(), host.Options{Settings: settings.Settings{Addr: addr}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", addr, err, want)
		}
	}
}

// TestWelcome: a listener on loopback without a token says at the start where its console is, and
// what it rests on, and no other does: those ask for a token, or have a warning of their own.
func TestWelcome(t *testing.T) {
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
		welcome(slog.New(slog.NewTextHandler(&log, nil)), s)
		if got := strings.Count(log.String(), "level=WARN") == 1 && strings.Contains(log.String(), "reverse proxy") && strings.Contains(log.String(), "url=http://"+c.addr+"/console"); got != c.want {
			t.Errorf("%+v: %s", c, &log)
		}
	}
}
