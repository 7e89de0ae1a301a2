package doctor

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

// TestSkewIsAskedOfWhoIsConfigured has a platform and a model with clocks of their own, and
// sees who is asked, and that no credential goes along.
func TestSkewIsAskedOfWhoIsConfigured(t *testing.T) {
	says := func(off time.Duration) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "" {
				t.Error("a credential is shown")
			}
			w.Header().Set("Date", time.Now().UTC().Add(off).Format(http.TimeFormat))
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	right, wrong := says(0), says(-time.Hour)
	home := "HOME=" + t.TempDir()
	workspace := []string{home, "WORKSPACE_ID=w", "PLATFORM_URL=" + wrong, "MOLECULE_WORKSPACE_TOKEN=t"}
	for name, c := range map[string]struct {
		load   func(environ []string) (settings.Settings, []settings.Warning, error)
		env    []string
		status preflight.Status
		detail string
	}{
		"alone":     {settings.Load, []string{home}, preflight.OK, "nothing that it could be compared with"},
		"model":     {settings.Load, []string{home, "OPENAI_API_KEY=k", "OPENAI_BASE_URL=" + wrong}, preflight.Fail, "ahead of the model's endpoint (127.0.0.1:"},
		"scripted":  {settings.Load, []string{home, "RUNTIME_MODEL=scripted", "OPENAI_BASE_URL=" + wrong}, preflight.OK, "nothing that"},
		"channel":   {settings.LoadChannel, workspace, preflight.Fail, "ahead of the platform (127.0.0.1:"},
		"mcp":       {settings.LoadMCP, workspace, preflight.Fail, "ahead of the platform"},
		"they-vary": {settings.LoadChannel, append([]string{"OPENAI_BASE_URL=" + right}, workspace...), preflight.Warn, "has it"},
		"two-workspaces": {settings.LoadChannel, []string{home, `MOLECULE_WORKSPACES=[{"id":"a","token":"t","platform_url":"` + right +
			`"},{"id":"b","token":"t","platform_url":"` + right + `"},{"id":"c","token":"t","platform_url":"` + wrong + `"}]`}, preflight.Warn, "has it; "},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, err := c.load(c.env)
			if err != nil {
				t.Fatal(err)
			}
			r := skewCheck(s, modelTime(s, c.env)...).Do(t.Context())
			if r.Status != c.status || !strings.Contains(r.Detail, c.detail) {
				t.Errorf("%+v", r)
			}
		})
	}
}
