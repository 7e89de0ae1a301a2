package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// TestOwnProviderKeepsItsKeys: where codex goes by its own configuration it has the keys of
// providers, from its environment or from a file in its home, and commands in the sandbox find
// none of them: neither in their environment nor in that of a process that they can look into.
func TestOwnProviderKeepsItsKeys(t *testing.T) {
	t.Parallel()
	model, home := modeltest.Start(t, fakemodel.Keywords), codextest.Home(t)
	writeFile(t, filepath.Join(home, ".env"), "HOUSE_FILE="+planted("file").value+"\n")
	writeFile(t, filepath.Join(home, "config.toml"), `model_provider = "house"
[model_providers.house]
name = "house"
base_url = "`+model.BaseURL()+`"
wire_api = "responses"
env_key = "HOUSE_PW"
env_http_headers = { X-House = "HOUSE_HEADER", X-File = "HOUSE_FILE" }
`)
	p := startOn(t, binary, model, "OPENAI_API_KEY=", "OPENAI_BASE_URL=", "CODEX_HOME="+home, "CODEX_SANDBOX=workspace-write", "CODEX_APPROVAL_POLICY=never",
		"HOUSE_PW="+planted("key").value, "HOUSE_HEADER="+planted("header").value, "OPENROUTER_API_KEY="+planted("other").value, "GH_TOKEN=for-the-agent")
	for i, from := range []string{"env", "cat /proc/[0-9]*/environ"} {
		got := text(p.send(from, "c", "run "+find(from)+`; echo "then $GH_TOKEN $((40+2))"`))
		if strings.Contains(got, mark) || !strings.Contains(got, "then for-the-agent 42") {
			t.Errorf("%s shows %q", from, got)
		}
		headers := model.Requests()[2*i].Headers
		for header, want := range map[string]string{"Authorization": "Bearer " + planted("key").value, "X-House": planted("header").value, "X-File": planted("file").value} {
			if headers.Get(header) != want {
				t.Errorf("the model is shown %s: %q", header, headers.Get(header))
			}
		}
	}
}
