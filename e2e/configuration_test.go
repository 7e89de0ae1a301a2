package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// A configured workspace is a runtime with a folder of configuration and a platform that
// takes its registration and has nothing else to say.
type configured struct {
	*program
	configs string
}

func (w *configured) write(name, text string) {
	w.t.Helper()
	writeFile(w.t, filepath.Join(w.configs, name), text)
}

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// startConfigured runs a workspace whose model is reached by nothing but what the
// files and settings say.
func startConfigured(t *testing.T, files map[string]string, settings ...string) *configured {
	t.Helper()
	platform := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/registry/"):
			_, _ = io.WriteString(rw, `{"status":"registered"}`)
		case files["platform"] != "" && r.URL.Path == "/workspaces/w-1/secrets/values" && r.Header.Get("Authorization") == "Bearer token-of-the-platform":
			_ = json.NewEncoder(rw).Encode(map[string]string{"CODEX_AUTH_JSON": files["platform"]})
		default:
			http.NotFound(rw, r)
		}
	}))
	t.Cleanup(platform.Close)
	w := &configured{configs: codextest.Dir(t, "configs")}
	model := modeltest.Start(t, fakemodel.Keywords)
	for name, text := range files {
		writeFile(t, filepath.Join(w.configs, name), strings.ReplaceAll(text, "MODEL_URL", model.BaseURL()))
	}
	w.program = &program{t: t, Model: model, Program: progtest.Start(t, binary, append([]string{
		"WORKSPACE_ID=w-1", "PLATFORM_URL=" + platform.URL, "CONFIGS_DIR=" + w.configs, "MOLECULE_WORKSPACE_TOKEN=token-of-the-platform",
		"RUNTIME_LOG=debug", "CODEX_SANDBOX=danger-full-access", "CODEX_APPROVAL_POLICY=never",
	}, settings...)...)}
	return w
}

// ready returns the text of /readyz.
func (w *configured) ready() (status int, body string) {
	w.t.Helper()
	res, err := http.Get(w.URL + "/readyz")
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

const houseConfig = `name: Ada
model: house-1
providers:
  - name: house
    base_url: MODEL_URL
    model_prefixes: [house-]
    auth_env: [HOUSE_KEY]
`

// TestBadConfigurationIsAnswered: the process stays up, says why to everybody, and
// takes the file when it is corrected.
func TestBadConfigurationIsAnswered(t *testing.T) {
	t.Parallel()
	w := startConfigured(t, map[string]string{"config.yaml": "name: Ada\nmodel: [house\n", "secrets.d/HOUSE_KEY": "sk-house\n"})
	task := w.send("m1", "", "say one")
	words, _ := at(task, "status", "message", "parts", 0, "text").(string)
	if state(task) != "TASK_STATE_FAILED" || !strings.Contains(words, "config.yaml:") || !strings.Contains(words, "not configured") {
		t.Errorf("%s: %q", state(task), words)
	}
	progtest.WaitFor(t, "readiness to say why not", func() bool {
		status, body := w.ready()
		return status == http.StatusServiceUnavailable && strings.Contains(body, "config.yaml:")
	})
	w.write("config.yaml", "name: Ada\nmodel: house\n"+strings.ReplaceAll(houseConfig[strings.Index(houseConfig, "providers:"):], "MODEL_URL", w.Model.BaseURL()))
	words, _ = at(w.send("m2", "", "say two"), "status", "message", "parts", 0, "text").(string)
	if !strings.Contains(words, `model is "house", which is the name of a provider`) {
		t.Errorf("with a provider for a model: %q", words)
	}
	w.write("config.yaml", strings.ReplaceAll(houseConfig, "MODEL_URL", w.Model.BaseURL()))
	if task := w.send("m3", "", "say three"); state(task) != "TASK_STATE_COMPLETED" || text(task) != "three" {
		t.Errorf("with a good one: %s %q", state(task), text(task))
	}
	progtest.WaitFor(t, "readiness", func() bool { status, _ := w.ready(); return status == http.StatusOK })
	if got := w.Model.Requests()[0]; got.Model != "house-1" || got.Headers.Get("Authorization") != "Bearer sk-house" {
		t.Errorf("the model was asked as %q by %q", got.Model, got.Headers.Get("Authorization"))
	}
}

// TestWorkspaceSecretsStayAway plants secrets where a workspace has them, and looks
// for them with codex's shell and in the log, the metrics, readiness and the card.
func TestWorkspaceSecretsStayAway(t *testing.T) {
	t.Parallel()
	w := startConfigured(t, map[string]string{
		"config.yaml": houseConfig, "secrets.d/HOUSE_KEY": "sk-planted-house\n", "secrets.d/GH_TOKEN": "gh-for-the-agent\n",
		"secrets.d/load.sh": "export HOUSE_KEY=sk-planted-loader\n",
	}, "ADMIN_TOKEN=planted-admin", "CP_TOKEN=planted-cp", "OPENAI_API_KEY=sk-planted-openai", "MINIMAX_API_KEY=sk-planted-minimax",
		"MOLECULE_LLM_USAGE_TOKEN=planted-usage", `CODEX_AUTH_JSON={"OPENAI_API_KEY":"sk-planted-auth"}`, "MOLECULE_WORKSPACES=planted-workspaces")
	task := w.send("m1", "", "run env; tr '\\0' '\\n' < /proc/$PPID/environ; tr '\\0' ' ' < /proc/$PPID/cmdline")
	out := text(task)
	if state(task) != "TASK_STATE_COMPLETED" || !strings.Contains(out, "GH_TOKEN=gh-for-the-agent") {
		t.Fatalf("%s: %s", state(task), out)
	}
	_, ready := w.ready()
	metrics, card := w.fetch("/metrics"), w.fetch("/.well-known/agent-card.json")
	for where, content := range map[string]string{"the shell": out, "the log": w.Log(), "readiness": ready, "the metrics": metrics, "the card": card} {
		if i := strings.Index(content, "planted-"); i >= 0 {
			t.Errorf("%s has a secret: …%.60s…", where, content[max(0, i-20):])
		}
		if strings.Contains(content, "token-of-the-platform") {
			t.Errorf("%s has the platform's token", where)
		}
	}
	if got := w.Model.Requests()[0].Headers.Get("Authorization"); got != "Bearer sk-planted-house" {
		t.Errorf("the model was asked by %q", got)
	}
}

func (w *configured) fetch(path string) string {
	w.t.Helper()
	res, err := http.Get(w.URL + path)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(body)
}

// TestLateConfigurationIsWaitedFor: the listener is there at once, and the message
// waits for the file that the platform copies after the start.
func TestLateConfigurationIsWaitedFor(t *testing.T) {
	t.Parallel()
	late := codextest.Dir(t, "late")
	w := startConfigured(t, nil, "WORKSPACE_CONFIG_PATH="+late, "HOUSE_KEY=sk-late")
	task := w.begin("m1", "", "say late")
	if status, body := w.ready(); status != http.StatusServiceUnavailable && !strings.Contains(body, "config.yaml") {
		t.Errorf("readiness %d: %s", status, body)
	}
	writeFile(t, filepath.Join(late, "config.yaml"), strings.ReplaceAll(houseConfig, "MODEL_URL", w.Model.BaseURL()))
	if ended := w.ended(task["id"]); text(ended) != "late" {
		t.Errorf("%s %q", state(ended), text(ended))
	}
	if card := w.fetch("/.well-known/agent-card.json"); !strings.Contains(card, `"Ada"`) {
		t.Errorf("the card does not show who the workspace is: %s", card)
	}
}

// TestLoginOfTheEnvironmentIsPutInItsPlace before codex starts, in the place of an
// older one.
func TestLoginOfTheEnvironmentIsPutInItsPlace(t *testing.T) {
	t.Parallel()
	login := func(day int) string {
		text, err := json.Marshal(map[string]any{
			"tokens":       map[string]string{"access_token": fmt.Sprintf("at-%d", day), "refresh_token": "rt", "account_id": "a", "id_token": "x"},
			"last_refresh": fmt.Sprintf("2026-11-%02dT00:00:00Z", day),
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	home := codextest.Home(t)
	for day, files := range map[int]map[string]string{
		2: {"config.yaml": "name: A\n", "secrets.d/CODEX_AUTH_JSON": login(2)},
		3: {"config.yaml": "name: A\n", "secrets.d/CODEX_AUTH_JSON": login(2), "platform": login(3)},
	} {
		writeFile(t, filepath.Join(home, "auth.json"), login(1))
		w := startConfigured(t, files, "CODEX_HOME="+home, "CODEX_AUTH_JSON={")
		progtest.WaitFor(t, "the login", func() bool {
			got, _ := os.ReadFile(filepath.Join(home, "auth.json"))
			return string(got) == login(day)
		})
		if strings.Contains(w.Log(), "at-") {
			t.Error("the login was logged")
		}
		w.Stop()
	}
}
