package adapter

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/provider"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

const planted = "sk-planted-0123456789"

// environ is an environment with what is planted in it. HOME is an empty
// directory: codex runs login shells, and a user's profile may take its time.
func environ(t *testing.T, more ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + codextest.Dir(t, "user"), "GH_TOKEN=for-the-agent"}, more...)
}

// launch returns a start of codex in a home that holds the given config.toml
// and in a directory of a git repository.
func launch(t *testing.T, p Provider, config string, vars ...string) Launch {
	t.Helper()
	l := Launch{Provider: p, Home: codextest.Home(t), WorkDir: codextest.Dir(t, "work"), Lean: true, Environ: environ(t, vars...), UserConfig: config}
	if err := os.Mkdir(filepath.Join(l.WorkDir, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if config != "" {
		if err := os.WriteFile(filepath.Join(l.Home, "config.toml"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// checkConfig fails the test if config.toml is no longer what the user wrote.
func checkConfig(t *testing.T, l Launch) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(l.Home, "config.toml"))
	if err != nil && !os.IsNotExist(err) || string(text) != l.UserConfig {
		t.Errorf("config.toml was changed: %v\n%s", err, text)
	}
}

func TestKeyReachesTheModelAndNobodyElse(t *testing.T) {
	m := newModel(t, "env")
	// The user's own policy must stay in force beside ours.
	config := "[shell_environment_policy]\nexclude = [\"USERS_OWN\"]\nset = { USERS_SET = \"kept\" }\n"
	for name, lean := range map[string]bool{"lean": true, "codex": false} {
		t.Run(name, func(t *testing.T) {
			m.forget()
			l := launch(t, Provider{KeyName: "OPENAI_API_KEY", BaseURL: m.URL + "/v1", Keys: provider.Keys(nil)}, config,
				"OPENAI_API_KEY="+planted+"\n", "USERS_OWN=hidden", "RUNTIME_TOKEN=hidden")
			l.Lean = lean
			argv := turn(t, l)
			for i, auth := range m.auths {
				if auth != "Bearer "+planted {
					t.Errorf("request %d came with Authorization %q", i, auth)
				}
			}
			if len(m.auths) != 2 || strings.Contains(argv, planted) || !strings.Contains(argv, "app-server -c") {
				t.Errorf("%d requests; arguments: %s", len(m.auths), argv)
			}
			if strings.Contains(m.out, planted) || strings.Contains(m.out, "hidden") {
				t.Errorf("a command of codex sees a secret:\n%s", m.out)
			}
			for _, kept := range []string{"GH_TOKEN=for-the-agent", "USERS_SET=kept", "CODEX_HOME=" + l.Home} {
				if !strings.Contains(m.out, kept) {
					t.Errorf("a command of codex does not see %s:\n%s", kept, m.out)
				}
			}
			checkConfig(t, l)
			if where := grepTree(t, l.Home, planted); where != "" {
				t.Errorf("the key was written to %s", where)
			}
		})
	}
}

// grepTree returns the first file under dir that holds text.
func grepTree(t *testing.T, dir, text string) (found string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || found != "" {
			return err
		}
		content, err := os.ReadFile(path)
		if strings.Contains(string(content), text) {
			found = path
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestModelsThatGetNoKey(t *testing.T) {
	m := newModel(t, "")
	for name, p := range map[string]Provider{
		"scripted": {KeyName: "OPENAI_API_KEY", BaseURL: "http://127.0.0.1:1/v1", ScriptedURL: m.URL + "/v1"},
		"keyless":  {BaseURL: m.URL + "/v1"},
	} {
		t.Run(name, func(t *testing.T) {
			m.forget()
			l := launch(t, p, "", "OPENAI_API_KEY="+planted)
			turn(t, l)
			checkConfig(t, l)
			if len(m.auths) != 1 || m.auths[0] != "" {
				t.Errorf("Authorization %q", m.auths)
			}
		})
	}
}

func TestCodexsOwnConfigurationIsLeftAlone(t *testing.T) {
	m := newModel(t, "")
	l := launch(t, Provider{}, "model_provider = \"mine\"\n[model_providers.mine]\nname = \"mine\"\nwire_api = \"responses\"\n"+
		"base_url = \""+m.URL+"/v1\"\nenv_key = \"MISTRAL_API_KEY\"\n", "MISTRAL_API_KEY="+planted)
	turn(t, l)
	checkConfig(t, l)
	if len(m.auths) != 1 || m.auths[0] != "Bearer "+planted {
		t.Errorf("Authorization %q", m.auths)
	}
}

// TestKeysOfCodexsOwnConfiguration: where codex goes by its own configuration it has the keys
// of providers, and its commands have none of them, whatever they are called, but for what the
// operator leaves to them by name.
func TestKeysOfCodexsOwnConfiguration(t *testing.T) {
	m := newModel(t, "env")
	vars := []string{"HOUSE_PW", "HOUSE.DOTS", "HOUSE_HEADER", "OTHER_PW", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"}
	providers := "model_provider = \"mine\"\n[model_providers.mine]\nname = \"mine\"\nwire_api = \"responses\"\nbase_url = \"" + m.URL + "/v1\"\n" +
		"env_key = \"HOUSE_PW\"\nenv_http_headers = { \"X-House\" = \"HOUSE_HEADER\", \"X-Dots\" = \"HOUSE.DOTS\" }\n" +
		"[model_providers.other]\nname = \"other\"\nbase_url = \"http://127.0.0.1:1/v1\"\nenv_key = \"OTHER_PW\"\n"
	for name, c := range map[string]struct {
		policy string
		left   []string // of vars
		kept   []string
	}{
		"none":     {"", nil, []string{"GH_TOKEN=for-the-agent"}},
		"set":      {"[shell_environment_policy]\nset = { USERS_SET = \"kept\", OTHER_PW = \"kept\" }\n", nil, []string{"GH_TOKEN=for-the-agent", "USERS_SET=kept", "OTHER_PW=kept"}},
		"named":    {"[shell_environment_policy]\ninclude_only = [\"*\", \"house_pw\"]\n", []string{"HOUSE_PW"}, []string{"GH_TOKEN=for-the-agent"}},
		"patterns": {"[shell_environment_policy]\ninclude_only = [\"PATH\", \"GH_*\", \"*_KEY\", \"HOUSE_??\"]\n", nil, []string{"GH_TOKEN=for-the-agent"}},
	} {
		t.Run(name, func(t *testing.T) {
			m.forget()
			var environ []string
			for _, name := range vars {
				environ = append(environ, name+"="+planted+"-of-"+name)
			}
			l := launch(t, Provider{}, providers+c.policy, environ...)
			argv := turn(t, l)
			checkConfig(t, l)
			if len(m.auths) != 2 || m.auths[0] != "Bearer "+planted+"-of-HOUSE_PW" || !slices.Contains(m.headers, "X-House") || !slices.Contains(m.headers, "X-Dots") {
				t.Errorf("the model is shown %q with %q", m.auths, m.headers)
			}
			for _, name := range vars {
				if got, want := strings.Contains(m.out, planted+"-of-"+name+"\n"), slices.Contains(c.left, name); got != want {
					t.Errorf("a command of codex sees %s: %v\n%s", name, got, m.out)
				}
			}
			for _, kept := range c.kept {
				if !strings.Contains(m.out, kept) {
					t.Errorf("a command of codex does not see %s:\n%s", kept, m.out)
				}
			}
			if strings.Contains(argv, planted) {
				t.Errorf("arguments: %s", argv)
			}
		})
	}
}

// TestKeysAreTakenFromCommands by name, and only those that codex has.
func TestKeysAreTakenFromCommands(t *testing.T) {
	environ := []string{"OPENAI_API_KEY=k", "CODEX_ACCESS_TOKEN=k", "GROQ_API_KEY=", "HOUSE_PW=k", "GH_TOKEN=g"}
	const config = "[model_providers.a]\nenv_key = \"HOUSE_PW\"\n[model_providers.b]\nenv_key = \"A=\\u0000\"\nenv_http_headers = { X = \"NOT_THERE\", Y = 5, Z = \"\" }\n"
	for name, c := range map[string]struct {
		l    Launch
		want string
	}{
		"own":       {Launch{Provider: Alone(false, "", "")}, `"CODEX_ACCESS_TOKEN"="","HOUSE_PW"="","NOT_THERE"="","OPENAI_API_KEY"=""`},
		"forwarded": {Launch{Provider: Provider{KeyName: "OPENAI_API_KEY", Forward: Forward{"http://f", "t"}}}, ""},
		"login":     {Launch{Provider: Provider{Login: true}, Workspace: true}, `"CODEX_ACCESS_TOKEN"=""`},
		"workspace": {Launch{Provider: Provider{BaseURL: "http://m"}, Workspace: true}, ""},
	} {
		c.l.Environ, c.l.UserConfig = environ, config
		if c.want != "" {
			c.want = "-c shell_environment_policy.set={" + c.want + "}"
		}
		read, unread := c.l.own()
		if got := strings.Join(c.l.hidden(read), " "); got != c.want || len(unread) > 0 {
			t.Errorf("%s: %s, want %s; %v", name, got, c.want, unread)
		}
	}
}

func TestOverridesHoldNoSurprises(t *testing.T) {
	if got := (Provider{}).Overrides(); got != nil {
		t.Errorf("without anything set: %q", got)
	}
	got := strings.Join(Provider{KeyName: "OPENAI_API_KEY", Keys: provider.Keys(nil)}.Overrides(), " ")
	for _, want := range []string{`model_provider="molecule-runtime"`, `base_url="https://api.openai.com/v1"`, `env_key="OPENAI_API_KEY"`, `wire_api="responses"`, `model_providers.molecule-runtime.requires_openai_auth=false`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

// TestOverridesOfAForwarder lead to it, with or without a key, and say that it speaks by WebSockets.
func TestOverridesOfAForwarder(t *testing.T) {
	for _, p := range []Provider{{KeyName: "OPENAI_API_KEY"}, {BaseURL: "http://local"}} {
		if !p.Forwards() {
			t.Errorf("%s is asked without", p.Describe())
		}
		p.Forward = Forward{"http://127.0.0.1:1", "t"}
		got := strings.Join(p.Overrides(), " ")
		for _, want := range []string{
			`base_url="http://127.0.0.1:1"`, `env_key="MOLECULE_FORWARD_TOKEN"`, `model_providers.molecule-runtime.supports_websockets=true`, `shell_environment_policy.set.MOLECULE_FORWARD_TOKEN=""`,
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %s in %s", p.Describe(), want, got)
			}
		}
	}
	for _, p := range []Provider{{}, {Login: true}, {KeyName: "OPENAI_API_KEY", ScriptedURL: "http://s"}} {
		if p.Forwards() || strings.Contains(strings.Join(p.Overrides(), " "), "websockets") {
			t.Errorf("%s is not codex's own business", p.Describe())
		}
	}
}

func TestTOMLStrings(t *testing.T) {
	for in, want := range map[string]string{
		`plain`:            `"plain"`,
		`a"b\c`:            `"a\"b\\c"`,
		"nl\ntab\tdel\x7f": `"nl\u000Atab\u0009del\u007F"`,
		"bad\xff":          `"bad` + "\uFFFD" + `"`,
		`http://h/?a=b`:    `"http://h/?a=b"`,
	} {
		if got := tomlString(in); got != want {
			t.Errorf("tomlString(%q) = %s, want %s", in, got, want)
		}
	}
}
