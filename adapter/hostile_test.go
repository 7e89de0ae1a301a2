package adapter

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/provider"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakelogin"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/forward"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// The tests in this file run the real codex on what other runtimes of the platform
// have left in a workspace's CODEX_HOME.

// leftOver is such a config.toml: a provider of another kind that is chosen, a
// model of it, another endpoint for OpenAI, another place for the login, and tool
// servers whose program is not here.
func leftOver(bad, ran string) string {
	return `model = "codex-MiniMax-M2.7"
model_provider = "minimax"
openai_base_url = "` + bad + `/v1"
chatgpt_base_url = "` + bad + `/backend-api/"
cli_auth_credentials_store = "keyring"
forced_login_method = "api"
sandbox_mode = "read-only"
approval_policy = "on-request"

[model_providers.minimax]
name = "minimax"
base_url = "` + bad + `/v1"
env_key = "MINIMAX_API_KEY"
wire_api = "responses"

[model_providers.molecule-runtime]
name = "minimax"
base_url = "` + bad + `/v1"
env_key = "MINIMAX_API_KEY"
wire_api = "responses"
requires_openai_auth = true

[mcp_servers.molecule]
command = "sh"
args = ["-c", "touch ` + ran + `; sleep 60"]
startup_timeout_sec = 60
[mcp_servers.molecule.env]
WORKSPACE_ID = "other"

[mcp_servers."molecule-platform"]
command = "sh"
args = ["-c", "touch ` + ran + `; sleep 60"]
startup_timeout_sec = 60
`
}

// nobody is an endpoint that must not be asked.
func nobody(t *testing.T) string {
	m := newModel(t, "")
	t.Cleanup(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if len(m.auths) > 0 || m.other > 0 {
			t.Errorf("what is left over was asked: %q", m.auths)
		}
	})
	return m.URL
}

func TestLeftOverProviderShadowsNoKey(t *testing.T) {
	m := newModel(t, "")
	ran := filepath.Join(codextest.Dir(t, "ran"), "ran")
	p := Alone(true, m.URL+"/v1", "gpt-5.5")
	l := launch(t, p, leftOver(nobody(t), ran), "OPENAI_API_KEY="+planted, "MINIMAX_API_KEY=mini")
	l.Workspace = true
	turn(t, l)
	checkConfig(t, l)
	if len(m.auths) != 1 || m.auths[0] != "Bearer "+planted || m.models[0] != "gpt-5.5" {
		t.Errorf("Authorization %q, models %q", m.auths, m.models)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a tool server that is left over was started")
	}
}

// TestLeftOverProviderShadowsNoSubscription: a block of another provider once had
// every workspace with a subscription ask it, and get 404.
func TestLeftOverProviderShadowsNoSubscription(t *testing.T) {
	m := newModel(t, "")
	issuer := fakelogin.Start(t)
	config := leftOver(nobody(t), "/dev/null")
	p := Chosen(provider.Choice{Entry: provider.Entry{Name: "s", AuthMode: provider.Subscription, BaseURL: m.URL + "/v1"}}, nil, true)
	l := launch(t, p, config, append(issuer.Env(), "OPENAI_API_KEY=unused", "MINIMAX_API_KEY=mini")...)
	l.Workspace = true
	if _, err := WriteLogin(l.Home, issuer.Auth()); err != nil {
		t.Fatal(err)
	}
	before := strings.Join(l.Args(), " ")
	if strings.Contains(before, "chatgpt_base_url") {
		t.Fatalf("arguments: %s", before)
	}
	// codex asks the backend who it is logged in as; in this test the issuer's.
	l.UserConfig = strings.Replace(config, "\nchatgpt_base_url", "\n# chatgpt_base_url", 1)
	rewrite(t, l, "chatgpt_base_url = \""+issuer.URL+"/backend-api/\"\n"+l.UserConfig+"\n[features]\nenable_request_compression = false\n")
	turn(t, l)
	if len(m.auths) == 0 || !strings.HasPrefix(m.auths[len(m.auths)-1], "Bearer eyJ") || m.models[len(m.models)-1] != DefaultModel {
		t.Errorf("Authorization %.40q, models %q", m.auths, m.models)
	}
	if _, err := os.Stat(filepath.Join(l.Home, "auth.json")); err != nil {
		t.Errorf("the login is gone: %v", err)
	}
}

func rewrite(t *testing.T, l Launch, config string) {
	t.Helper()
	put(t, filepath.Join(l.Home, "config.toml"), config)
}

func TestLeftOverEndpointsAreTakenBack(t *testing.T) {
	l := Launch{Workspace: true, WorkDir: "/w", Provider: Provider{Login: true, ChatGPT: true}, UserConfig: leftOver("http://bad", "/dev/null")}
	args := strings.Join(l.Args(), " ")
	for _, want := range []string{
		`model_provider="openai"`, `openai_base_url="https://chatgpt.com/backend-api/codex"`, `chatgpt_base_url="https://chatgpt.com/backend-api/"`,
		`cli_auth_credentials_store="file"`, `forced_login_method="chatgpt"`, `model="gpt-5.5"`,
		`mcp_servers.molecule.enabled=false`, `mcp_servers.molecule-platform.enabled=false`,
	} {
		if strings.Count(args, want) != 1 {
			t.Errorf("%d times %s in %s", strings.Count(args, want), want, args)
		}
	}
	l.UserConfig = "[tools]\nmodel = \"x\"\n[mcp_servers.own]\ncommand = \"molecule\"\n"
	if args := strings.Join(l.Args(), " "); strings.Contains(args, "mcp_servers") || strings.Contains(args, "base_url") || strings.Contains(args, "model=") {
		t.Errorf("without anything left over: %s", args)
	}
	l.Workspace, l.UserConfig = false, leftOver("http://bad", "/dev/null")
	if args := strings.Join(l.Args(), " "); strings.Contains(args, "mcp_servers") {
		t.Errorf("a user's own codex is changed: %s", args)
	}
}

// TestNoSecretReachesAShell plants a secret in every variable that codex and its
// commands are not to see, and looks for it as a command of codex can: in its own
// environment and in that of codex.
func TestNoSecretReachesAShell(t *testing.T) {
	const looks = `env; for p in $PPID $(ps -o ppid= -p $PPID 2>/dev/null); do tr '\0' '\n' < /proc/$p/environ; tr '\0' ' ' < /proc/$p/cmdline; done`
	m := newModel(t, looks)
	own := []provider.Entry{{Name: "house", AuthMode: provider.Compatible, BaseURL: m.URL + "/v1", AuthEnv: []string{"HOUSE_KEY"}}}
	names := append(provider.Keys(own),
		"MOLECULE_WORKSPACE_TOKEN", "MOLECULE_WORKSPACE_TOKEN_FILE", "MOLECULE_WORKSPACES", "MOLECULE_PLATFORM_INBOUND_SECRET",
		"PLATFORM_INBOUND_SECRET", "MOLECULE_INBOUND_SECRET", "MOLECULE_ADMIN_TOKEN", "MOLECULE_CP_TOKEN", "MOLECULE_CONFIG_RELAY_ACK_TOKEN",
		"ADMIN_TOKEN", "CP_SECRET", "CODEX_AUTH_JSON", "CODEX_CHATGPT_AUTH_JSON", "RUNTIME_TOKEN", "LANGFUSE_SECRET_KEY",
		"OTEL_EXPORTER_OTLP_HEADERS", "MOLECULE_FORWARD_TOKEN", "LANGSMITH_API_KEY", "DD_API_KEY", "SENTRY_DSN",
		"CODEX_ACCESS_TOKEN", "CODEX_API_KEY", "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "AWS_BEARER_TOKEN_BEDROCK", "AZURE_API_KEY",
	)
	var vars []string
	for _, name := range names {
		vars = append(vars, name+"=planted-in-"+name)
	}
	choice, err := provider.Resolve(provider.Input{Env: lookup(vars), Provider: "house", Own: own})
	if err != nil {
		t.Fatal(err)
	}
	transport, err := forward.Transport("")
	if err != nil {
		t.Fatal(err)
	}
	f, err := forward.Listen(transport, func(forward.Call) {}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close(context.Background())
	l := launch(t, Chosen(choice, own, false), "", append(vars, "HTTP_PROXY="+nobody(t), "http_proxy="+nobody(t))...)
	// What codex sends by itself is what the endpoint gets by way of the forwarder.
	turn(t, launch(t, Chosen(choice, own, false), "", vars...))
	sent := m.headers
	m.forget()
	l.Provider.Forward.URL, l.Provider.Forward.Token, err = f.Renew(forward.Target{URL: l.Provider.URL(), Key: "planted-in-HOUSE_KEY"})
	if err != nil {
		t.Fatal(err)
	}
	turn(t, l)
	if want := slices.Sorted(slices.Values(append(sent, "Accept-Encoding"))); !slices.Equal(m.headers, want) || !slices.Contains(m.headers, "Thread-Id") {
		t.Errorf("the endpoint gets %q, codex sends %q", m.headers, sent)
	}
	if len(m.auths) != 2 || m.auths[0] != "Bearer planted-in-HOUSE_KEY" {
		t.Fatalf("Authorization %q", m.auths)
	}
	if !strings.Contains(m.out, "GH_TOKEN=for-the-agent") || !strings.Contains(m.out, "app-server") || !strings.Contains(m.out, "127.0.0.1,localhost") {
		t.Errorf("the command has not looked where it should:\n%s", m.out)
	}
	for _, name := range names {
		if strings.Contains(m.out, "planted-in-"+name+"\n") || strings.Contains(m.out, "planted-in-"+name+" ") {
			t.Errorf("a command of codex sees %s", name)
		}
	}
	if where := grepTree(t, l.Home, "planted-in-HOUSE_KEY"); where != "" {
		t.Errorf("the key was written to %s", where)
	}
}
