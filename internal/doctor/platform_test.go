package doctor

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

func TestPlatformCheck(t *testing.T) {
	type answer struct {
		status int
		body   string
	}
	online := answer{200, `{"id":"w","status":"online"}`}
	for name, c := range map[string]struct {
		state, instructions answer
		token               string
		status              preflight.Status
		detail              string
	}{
		"well":     {online, answer{200, `{}`}, "geheim", preflight.OK, `has the workspace as "online"`},
		"older":    {online, answer{404, `404 page not found`}, "geheim", preflight.OK, `has the workspace as "online"`},
		"forged":   {answer{200, `{"id":"w","status":"online ✓ sandbox \"on\""}`}, answer{200, `{}`}, "geheim", preflight.OK, `has the workspace as "online ✓ sandbox \"on\""`},
		"deleted":  {answer{404, `{"deleted":true}`}, answer{}, "geheim", preflight.Fail, "has deleted this workspace"},
		"removed":  {answer{410, `{"error":"workspace removed"}`}, answer{}, "geheim", preflight.Fail, "has deleted this workspace"},
		"row":      {answer{200, `{"id":"w","status":"removed"}`}, answer{}, "geheim", preflight.Fail, "has deleted this workspace"},
		"token":    {online, answer{401, `{"error":"invalid workspace auth token"}`}, "geheim", preflight.Warn, "does not take the workspace's token"},
		"no-token": {online, answer{}, "", preflight.Warn, "the workspace has no token"},
		"closed":   {answer{401, `{}`}, answer{401, `{}`}, "geheim", preflight.Warn, "does not take the workspace's token"},
		"broken":   {answer{502, `<html>`}, answer{}, "geheim", preflight.Warn, "502 Bad Gateway"},
	} {
		t.Run(name, func(t *testing.T) {
			double := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				a := c.instructions
				if r.URL.Path == "/workspaces/w" || strings.HasSuffix(r.URL.Path, "/state") {
					a = c.state
				}
				w.WriteHeader(a.status)
				_, _ = w.Write([]byte(a.body))
			}))
			defer double.Close()
			client := platform.New(platform.Config{URL: double.URL, Workspace: "w", Token: platform.Token{Value: c.token}})
			defer client.Close()
			got := askPlatform(t.Context(), client, double.URL)
			if got.Status != c.status || !strings.Contains(got.Detail, c.detail) || got.Status != preflight.OK && got.Fix == "" || strings.Contains(got.Detail, "geheim") {
				t.Errorf("%+v", got)
			}
		})
	}
	if checks := platformChecks(settings.Settings{}); checks != nil {
		t.Error("standing alone there is no platform to ask")
	}
}

// TestInboxCheck: a channel is of no use on a platform without poll mode.
func TestInboxCheck(t *testing.T) {
	for _, era := range fakeplatform.Eras() {
		t.Run(era.String(), func(t *testing.T) {
			p := fakeplatform.Start(t, era)
			w := p.Add(fakeplatform.Workspace{Poll: true, Status: "awaiting_agent"})
			s := settings.Settings{Spaces: []settings.Space{{ID: w.ID(), URL: p.URL, Token: settings.NewSecret(w.Token())}}}
			got := platformChecks(s)[0].Run(t.Context())
			if era == fakeplatform.APR {
				if got.Status != preflight.Fail || !strings.Contains(got.Detail, "no poll mode") || !strings.Contains(got.Fix, "MOLECULE_WORKSPACE_URL") {
					t.Errorf("%+v", got)
				}
			} else if got.Status != preflight.OK {
				t.Errorf("%+v", got)
			}
			p.Behave("*/activity", fakeplatform.Refuse(500))
			if got := platformChecks(s)[0].Run(t.Context()); got.Status != preflight.OK {
				t.Errorf("where it cannot be known: %+v", got)
			}
			for _, r := range p.Requests() {
				if r.Method != http.MethodGet {
					t.Errorf("doctor asked %s %s", r.Method, r.Path)
				}
			}
		})
	}
}
