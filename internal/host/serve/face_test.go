package serve

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextools"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/host"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/secrets"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/toolset"
)

// TestCardOfTheAgentItself: what the agent has made of its card is not taken back by the
// next registration; what the platform has refused is no card.
func TestCardOfTheAgentItself(t *testing.T) {
	status := http.StatusBadRequest
	double := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, `{"status":"updated"}`)
	}))
	defer double.Close()
	s := settings.Settings{WorkspaceID: "w", PlatformURL: double.URL, ConfigsDir: t.TempDir(), WorkDir: t.TempDir()}
	s.WorkspaceToken = settings.NewSecret("token")
	o := host.Options{Settings: s, Redact: logging.NewRedactor(), Logger: slog.New(slog.DiscardHandler)}
	m := &face{Options: o, shown: o.Identity, url: "http://ws:8000", source: source{describe: func() description { return description{Name: "Ada"} }}}
	l := &link{client: platform.New(secrets.PlatformConfig(s, o.Redact))}
	l.speaker = platform.NewSpeaker(l.client)
	defer l.client.Close()
	tools := codextools.New(s, codextools.OwnCard{Teller: l.teller(&host.Heard{}), Remember: m.remember}, o.Redact, toolset.Config{Card: m.card})
	update := func() {
		t.Helper()
		tools.Call(t.Context(), toolset.Call{Tool: "update_agent_card", Arguments: []byte(`{"card":{"name":"Grace"}}`)})
	}
	update()
	if card := fmt.Sprintf("%s", m.card()); !strings.Contains(card, "Ada") {
		t.Errorf("registered with %s", card)
	}
	status = http.StatusOK
	update()
	if card := fmt.Sprint(m.card()); !strings.Contains(card, "name:Grace") || !strings.Contains(card, "url:http://ws:8000") {
		t.Errorf("registered with %s", card)
	}
}
