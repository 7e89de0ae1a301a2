package adapter

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/provider"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextest"
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
