package adapter

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

type renewals []string

func (r *renewals) Renew(endpoint, key string) (Forward, error) {
	*r = append(*r, endpoint+" "+key)
	if strings.Contains(endpoint, "bad") {
		return Forward{}, errors.New("no such endpoint")
	}
	return Forward{URL: "http://127.0.0.1:1", Token: "token"}, nil
}

// workspace is a Setup over a folder of configuration.
func workspace(t *testing.T, environ ...string) (s *Setup, dir string, log *bytes.Buffer, hidden *[]string, asked *renewals) {
	t.Helper()
	dir, log, hidden, asked = t.TempDir(), &bytes.Buffer{}, &[]string{}, &renewals{}
	home := filepath.Join(dir, ".codex")
	logger := slog.New(slog.NewTextHandler(log, nil))
	s = NewSetup(SetupConfig{
		File: filepath.Join(dir, "config.yaml"), Secrets: filepath.Join(dir, "secrets.d"), Forward: asked, Logger: logger, Port: DefaultPort,
		Launch: Launch{Home: home, WorkDir: "/w", Workspace: true, Environ: environ},
		Logins: NewLogins(LoginsConfig{Home: home, Logger: logger}),
		Redact: func(v ...string) { *hidden = append(*hidden, v...) },
	})
	return s, dir, log, hidden, asked
}

// TestUnreadableConfiguration: what codex's servers are kept from goes by it, and codex may find
// it a moment later.
func TestUnreadableConfiguration(t *testing.T) {
	s, dir, _, _, _ := workspace(t, "OPENAI_API_KEY=sk-key")
	put(t, filepath.Join(dir, "config.yaml"), "name: Ada\n")
	in := filepath.Join(dir, ".codex", "config.toml")
	if err := os.MkdirAll(in, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := s.Prepare(t.Context())
	if problem, ok := errors.AsType[*Problem](err); !ok || !strings.Contains(problem.What, "it is not a file") {
		t.Errorf("%v", err)
	}
	if err := os.Remove(in); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Prepare(t.Context()); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestSetupHealsByItself(t *testing.T) {
	s, dir, log, _, _ := workspace(t, "OPENAI_API_KEY=sk-key")
	file := filepath.Join(dir, "config.yaml")
	if s.Problem() == "" {
		t.Error("before anything was read there is no problem")
	}
	for _, step := range []struct{ text, problem, name string }{
		{"name: [\n", file + ":", "Workspace"},
		{"name: Ada\nmodel: minimax\n", `model is "minimax", which is the name of a provider`, "Ada"},
		{"name: Bob\nruntime_config: {provider: nobody}\n", "which is not known", "Bob"},
		{"name: Eve\nmodel: gpt-5.5\ntier: many\na2a: {port: 9000}\n", "", "Eve"},
		{"name: Eve\nmodel: gpt-5.5\ntier: many\n", "", "Eve"},
		{"- broken again\n", file + ":1: ", "Eve"},
	} {
		put(t, file, step.text)
		l, err := s.Prepare(t.Context())
		problem, isProblem := errors.AsType[*Problem](err)
		if (step.problem == "") != (err == nil) || s.Problem() == "" != (err == nil) || !strings.Contains(s.Problem(), step.problem) || s.Config().Name != step.name {
			t.Errorf("%q: %v, problem %q, name %q", step.text, err, s.Problem(), s.Config().Name)
		}
		if err != nil && (!isProblem || problem.Fix == "") {
			t.Errorf("%q: %v does not say what to do", step.text, err)
		}
		if err == nil && (l.Model() != "gpt-5.5" || !strings.Contains(strings.Join(l.Args(), " "), `base_url="http://127.0.0.1:1"`)) {
			t.Errorf("arguments %q", l.Args())
		}
	}
	<-s.Known()
	if strings.Count(log.String(), "tier: a number is wanted") != 2 || strings.Count(log.String(), "a2a.port: 9000 is not in force") != 1 {
		t.Errorf("log:\n%s", log)
	}
}

func TestSetupTakesSecretsFromFiles(t *testing.T) {
	s, dir, log, hidden, asked := workspace(t, "MINIMAX_API_KEY=sk-")
	if err := os.Mkdir(filepath.Join(dir, "secrets.d"), 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "config.yaml"), "model: codex-minimax-m2.7\n")
	put(t, filepath.Join(dir, "secrets.d", "MINIMAX_API_KEY"), "sk-of-the-file\n")
	put(t, filepath.Join(dir, "secrets.d", "DEPLOY_KEY"), "line 1\nline 2\n")
	put(t, filepath.Join(dir, "secrets.d", "CODEX_AUTH_JSON"), auth("a", 1, "x"))
	l, err := s.Prepare(t.Context())
	if err != nil || l.Provider.Name != "minimax-token-plan" || l.Model() != "codex-MiniMax-M2.7" {
		t.Fatalf("%v: %+v", err, l.Provider)
	}
	env := strings.Join(l.Env(), "\x00")
	for _, banned := range []string{"sk-of-the-file", "CODEX_AUTH_JSON", "rt-x"} {
		if strings.Contains(env, banned) || strings.Contains(strings.Join(l.Args(), " "), banned) || strings.Contains(log.String(), banned) {
			t.Errorf("codex or the log gets %s", banned)
		}
	}
	if !strings.Contains(env, "DEPLOY_KEY=line 1\nline 2\x00") || !strings.Contains(env, "MOLECULE_FORWARD_TOKEN=token") {
		t.Errorf("environment %q", env)
	}
	if len(*asked) != 1 || (*asked)[0] != "https://api.minimax.io/v1 sk-of-the-file" {
		t.Errorf("forwarded: %q", *asked)
	}
	if all := strings.Join(*hidden, "|"); !strings.Contains(all, "sk-of-the-file") || !strings.Contains(all, "line 1\nline 2") {
		t.Errorf("hidden: %q", all)
	}
	if login, _, err := ReadLogin(l.Home); err != nil || !login.ChatGPT {
		t.Errorf("the login was not written: %v", err)
	}
}

// TestFixedProviderHolds: the built-in model answers whatever the file says of models.
func TestFixedProviderHolds(t *testing.T) {
	s, dir, _, _, asked := workspace(t, "OPENAI_API_KEY=sk-key")
	s.cfg.Fixed, s.cfg.Launch.Provider = true, Provider{ScriptedURL: "http://127.0.0.1:1/v1"}
	put(t, filepath.Join(dir, "config.yaml"), "name: Ada\nmodel: minimax\n")
	if l, err := s.Prepare(t.Context()); err != nil || l.Provider.ScriptedURL == "" || s.Config().Name != "Ada" || len(*asked) > 0 {
		t.Errorf("%v: %+v, asked %q", err, l.Provider, *asked)
	}
	alone := NewSetup(SetupConfig{Launch: Launch{WorkDir: "/w"}})
	<-alone.Known()
	if alone.Problem() != "" {
		t.Errorf("standing alone has the problem %q", alone.Problem())
	}
}

// TestRequiredEnvIsAHint: templates list keys of which any one will do.
func TestRequiredEnvIsAHint(t *testing.T) {
	s, dir, _, _, _ := workspace(t, "OPENAI_API_KEY=sk-key")
	put(t, filepath.Join(dir, "config.yaml"), "model: gpt-5.5\nruntime_config:\n  required_env: [CODEX_AUTH_JSON, OPENAI_API_KEY, MINIMAX_API_KEY]\n")
	if l, err := s.Prepare(t.Context()); err != nil || l.Provider.Name != "openai-api" {
		t.Errorf("%v: %+v", err, l.Provider)
	}
}

// TestSetupInstallsTheLoginOnce: at a later start of codex what it has renewed since
// must not be replaced by what it was made from.
func TestSetupInstallsTheLoginOnce(t *testing.T) {
	s, dir, _, _, _ := workspace(t, "CODEX_AUTH_JSON="+auth("", 1, "seed"))
	put(t, filepath.Join(dir, "config.yaml"), "name: A\n")
	l, err := s.Prepare(t.Context())
	if err != nil || !l.Provider.Login || !l.Provider.ChatGPT {
		t.Fatalf("%v: %+v", err, l.Provider)
	}
	put(t, authFile(l.Home), auth("", 1, "renewed"))
	if _, err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, text, _ := ReadLogin(l.Home); string(text) != auth("", 1, "renewed") {
		t.Errorf("auth.json is %s", text)
	}
}

func TestLookLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "config.yaml"), "model: gpt-5.5\n")
	home := filepath.Join(dir, "home")
	l, c, warnings, err := Look(SetupConfig{
		File: filepath.Join(dir, "config.yaml"), Wait: time.Hour, Secrets: filepath.Join(dir, "secrets.d"),
		Launch: Launch{Home: home, WorkDir: "/w", Workspace: true, Environ: []string{"CODEX_AUTH_JSON=" + auth("a", 1, "x")}},
	})
	if err != nil || len(warnings) > 0 || c.Model != "gpt-5.5" || !l.Provider.ChatGPT {
		t.Errorf("%v %v %+v", err, warnings, l.Provider)
	}
	if _, err := os.Stat(home); !os.IsNotExist(err) {
		t.Errorf("codex's home was made: %v", err)
	}
}

// asked counts how often the platform is asked for the secrets.
type asked int

func (a *asked) Secrets(context.Context) (map[string]string, error) { *a++; return nil, nil }

// TestLoginIsInstalledOnce: codex must not wait for the platform at each of its starts;
// from then on the login is fetched beside it.
func TestLoginIsInstalledOnce(t *testing.T) {
	s, _, _, _, _ := workspace(t, "OPENAI_API_KEY=sk-key")
	var n asked
	s.cfg.Logins.cfg.Platform = &n
	for range 3 {
		if _, err := s.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n != 1 {
		t.Errorf("the platform was asked %d times", n)
	}
}
