package main

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/toolset"
)

// TestCardOfTheAgentItself: what the agent has made of its card is not taken back by the
// next registration; what the platform has refused is no card.
func TestCardOfTheAgentItself(t *testing.T) {
	status := http.StatusBadRequest
	platform := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, `{"status":"updated"}`)
	}))
	defer platform.Close()
	s := settings.Settings{WorkspaceID: "w", PlatformURL: platform.URL, ConfigsDir: t.TempDir(), WorkDir: t.TempDir()}
	s.WorkspaceToken = settings.NewSecret("token")
	m := &member{s: s, url: "http://ws:8000", source: source{describe: func() description { return description{Name: "Ada"} }}, log: slog.New(slog.DiscardHandler)}
	app := &application{member: m, redact: logging.NewRedactor(), log: m.log}
	defer app.close()
	tools := newTools(s, ownCard{app.telling(s), func(card any) { m.own.Store(&card) }}, logging.NewRedactor(), toolset.Config{Card: func() any { return m.card() }})
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
