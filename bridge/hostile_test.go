package bridge_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/bridge"
)

// TestRedirectsAreNotFollowed keeps the token from whoever else listens on the host.
func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a redirect was followed, with %q", r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	for _, code := range []int{http.StatusFound, http.StatusTemporaryRedirect} {
		sends := httptest.NewServer(http.RedirectHandler(elsewhere.URL, code))
		c := bridge.New(bridge.Config{URL: sends.URL, Token: "token"})
		if _, err := c.Do(t.Context(), bridge.Args{Action: "list"}); err == nil || !strings.Contains(err.Error(), "is no runtime") {
			t.Errorf("%d: %v", code, err)
		}
		sends.Close()
	}
}

// TestAnswersOfNoRuntime are errors.
func TestAnswersOfNoRuntime(t *testing.T) {
	for _, answer := range []string{`{"result":null}`, `{"result":{"tasks":[null]}}`, `{}`, `[]`, ``} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) }))
		if got, err := bridge.New(bridge.Config{URL: server.URL}).Do(t.Context(), bridge.Args{Action: "list"}); err == nil {
			t.Errorf("%s is taken for %+v", answer, got)
		}
		server.Close()
	}
}

// TestTerminalIsNotSteered shows what the model says, and does not do it.
func TestTerminalIsNotSteered(t *testing.T) {
	const evil = "rm -rf ~ \x1b[2K\r echo harmless"
	var out strings.Builder
	p := &bridge.Printer{Out: &out, ID: "x", Color: true}
	p.Event(&a2a.TaskStatusUpdateEvent{Status: a2a.TaskStatus{
		State: a2a.TaskStateInputRequired, Message: a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart(evil)),
	}})
	p.Event(&a2a.TaskArtifactUpdateEvent{Artifact: &a2a.Artifact{ID: "a", Parts: a2a.ContentParts{a2a.NewTextPart(evil)}}})
	if err := bridge.WriteHuman(&out, bridge.ListAnswer{Tasks: []*bridge.Task{{Prompt: evil}}}); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.Contains(got, "\r") || strings.Contains(got, "\x1b[2K") || strings.Count(got, `\x1b[2K\r`) < 2 {
		t.Errorf("%q", got)
	}
}
