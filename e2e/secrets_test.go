package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// fencedEnv names the program that a copy of this binary becomes, in [fenced].
const fencedEnv = "E2E_FENCED"

// mark begins every secret that is planted, so that a command can look for all of them.
const mark = "PLANTED-"

// A plant is a secret, and where it was put.
type plant struct{ name, value string }

func planted(name string) plant { return plant{name, mark + name + "-5tG8"} }

// keyed has the shape of a key: nobody has told the runtime that it is one.
func keyed(name string) plant { return plant{name, "sk-" + mark + name + "-7hJ2"} }

// variables are those in the environment that hold a secret.
func variables() []string {
	return []string{
		"OPENAI_API_KEY", "MINIMAX_API_KEY", "ANTHROPIC_API_KEY", "MOLECULE_LLM_USAGE_TOKEN", "HOUSE_KEY", // of providers
		"CODEX_ACCESS_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "AWS_BEARER_TOKEN_BEDROCK", "TOGETHER_API_KEY", "LITELLM_MASTER_KEY",
		"RUNTIME_TOKEN", "MOLECULE_WORKSPACE_TOKEN", "MOLECULE_PLATFORM_INBOUND_SECRET",
		"ADMIN_TOKEN", "MOLECULE_ADMIN_TOKEN", "CP_SIGNING_KEY", "LANGFUSE_SECRET_KEY", "OTEL_EXPORTER_OTLP_HEADERS", "LANGSMITH_API_KEY", "DD_API_KEY",
		"GH_TOKEN", "DATABASE_PASSWORD", // for the agent
	}
}

// A garden is a workspace with a secret in every place where one can stand.
type garden struct {
	*program
	platform *fakeplatform.Platform
	me, peer *fakeplatform.Handle
	configs  string
	wire     string
	plants   []plant
	door     string // of the tools
}

// plant notes a secret and returns it.
func (g *garden) plant(p plant) string {
	g.plants = append(g.plants, p)
	return p.value
}

// all is every secret but for those of callers, which nobody but they and their receivers have.
func (g *garden) all() string {
	return g.values(func(name string) bool { return !slices.Contains(ofCallers(), name) })
}

// seen is every secret that codex, and so the model, can know.
func (g *garden) seen() string {
	can := sets(forAgent(), inFiles(), told(), []string{"peer"})
	return g.values(func(name string) bool { return slices.Contains(can, name) })
}

func (g *garden) values(take func(name string) bool) string {
	var values []string
	for _, p := range g.plants {
		if take(p.name) {
			values = append(values, p.value)
		}
	}
	return strings.Join(values, " ")
}

// loginOf is an auth.json with a secret in each of its places.
func (g *garden) loginOf(name string) string {
	text, _ := json.Marshal(object{
		"OPENAI_API_KEY": g.plant(planted(name + "-key")),
		"tokens": object{
			"id_token": g.plant(planted(name + "-id")), "access_token": g.plant(planted(name + "-access")), "refresh_token": g.plant(planted(name + "-refresh")), "account_id": name,
		},
		"last_refresh": "2026-01-01T00:00:00Z",
	})
	return string(text)
}

func plantGarden(t *testing.T, era fakeplatform.Era, sandbox, door string) *garden {
	t.Helper()
	g := &garden{platform: fakeplatform.Start(t, era), configs: codextest.Dir(t, "configs"), door: door}
	g.wire = filepath.Join(codextest.Dir(t, "wire"), "wire.log")
	g.me = g.platform.Add(fakeplatform.Workspace{
		Name: "worker", Token: g.plant(planted("live-token")), InboundSecret: g.plant(planted("inbound")),
		Instructions: "instructions " + g.plant(keyed("instructions")),
		Secrets:      map[string]string{"CODEX_AUTH_JSON": g.loginOf("platform-login")},
	})
	says := g.plant(keyed("peer"))
	g.peer = g.platform.Add(fakeplatform.Workspace{Name: "writer", Reply: func(string) string { return "the key is " + says }})
	g.files()
	settings := []string{
		fencedEnv + "=" + binary,
		"WORKSPACE_ID=" + g.me.ID(), "PLATFORM_URL=" + g.platform.URL, "CONFIGS_DIR=" + g.configs, loopback,
		"MOLECULE_WORKSPACE_TOKEN_FILE=" + filepath.Join(g.configs, "token"), "MOLECULE_RESOLVED_PROVIDER=openai-api",
		"CODEX_SANDBOX=" + sandbox, "CODEX_APPROVAL_POLICY=never", "RUNTIME_TOOLS=" + door, "RUNTIME_DEBUG_WIRE=" + g.wire,
		"CODEX_AUTH_JSON=" + g.loginOf("env-login"),
	}
	for _, name := range variables() {
		settings = append(settings, name+"="+g.plant(planted(name)))
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	g.program = startAs(t, self, settings...)
	return g
}

// files writes the files of the workspace.
func (g *garden) files() {
	write := func(name, text string) {
		path := filepath.Join(g.configs, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			panic(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			panic(err)
		}
	}
	write("token", g.plants[0].value+"\n")
	write(".auth_token", g.plant(planted("stale-token"))+"\n")
	write(".platform_inbound_secret", g.plants[1].value+"\n")
	write("secrets.d/FILE_PASSWORD", g.plant(planted("FILE_PASSWORD"))+"\n")
	write("secrets.d/DEPLOY_KEY", "-----BEGIN KEY-----\n"+g.plant(planted("DEPLOY_KEY"))+"\n-----END KEY-----\n")
	write("system-prompt.md", "You are careful. "+g.plant(keyed("system-prompt")))
	write("config.yaml", "name: worker\nmodel: gpt-5.5\n"+
		"providers:\n- name: house\n  base_url: https://models.example.com/v1\n  auth_env: [HOUSE_KEY]\n  api_key: "+g.plant(planted("key-in-config"))+
		"\n- name: slip\n  base_url: https://models.example.com/v1\n  auth_env: ["+g.plant(planted("key-for-a-name"))+"]\n"+
		"- name: slop\n  base_url: https://user:"+g.plant(planted("password-of-url"))+"@models.example.com/v1\n")
}

// do calls a method of A2A as whoever has the token.
func (g *garden) do(method string, params any) object {
	g.t.Helper()
	body, _ := json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	var answer object
	if err := json.Unmarshal(g.fetch(http.MethodPost, "/", body), &answer); err != nil {
		g.t.Fatal(err)
	}
	return answer
}

func (g *garden) fetch(method, path string, body []byte) []byte {
	g.t.Helper()
	req, err := http.NewRequestWithContext(g.t.Context(), method, g.URL+path, bytes.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+g.value("RUNTIME_TOKEN"))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	return text
}

// say sends a message, waits for the end of its task and returns that.
func (g *garden) say(id, text string) object {
	g.t.Helper()
	return g.do("SendMessage", object{"message": message(id, "c", text)})
}

func (g *garden) value(name string) string {
	for _, p := range g.plants {
		if p.name == name {
			return p.value
		}
	}
	panic("no secret is called " + name)
}

// in returns the names of the secrets that stand in a text, sorted.
func (g *garden) in(text string) []string {
	var found []string
	for _, p := range g.plants {
		if strings.Contains(text, p.value) {
			found = append(found, p.name)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// argv is the command lines of the program and all that it has started.
func (g *garden) argv() string {
	var all []byte
	for _, pid := range append(progtest.Descendants(g.Pid()), g.Pid()) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // it may have ended
		all = append(append(all, line...), '\n')
	}
	return string(all)
}
