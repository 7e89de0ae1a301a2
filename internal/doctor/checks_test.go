package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/codexfit"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fence"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/launch"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

// codexThatTells is the real codex, which writes down for each start what it is started with:
// one file for each, in a folder for each of its commands.
func codexThatTells(t *testing.T) (bin, told string) {
	t.Helper()
	dir := codextest.Dir(t, "bin")
	bin, told = filepath.Join(dir, "codex"), filepath.Join(dir, "told")
	script := fmt.Sprintf("#!/bin/sh\nmkdir -p %s/$1; env >%[1]s/$1/$$\nexec %[2]s \"$@\"\n", told, codextest.Bin(t))
	if err := os.WriteFile(bin, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return bin, told
}

// TestChecksHaveNoKey: what checks and doctor start has neither the model's key nor what opens
// the runtime or the platform, and they say of the key what they say with it.
func TestChecksHaveNoKey(t *testing.T) {
	world := fakeplatform.Start(t, fakeplatform.AUG)
	handle := world.Add(fakeplatform.Workspace{Name: "Ada"})
	for name, c := range map[string]struct {
		environ []string
		has     string // of what is planted, what a codex that serves has, too
	}{
		"a key":       {environ: []string{"OPENAI_API_KEY=planted-key", "ANTHROPIC_API_KEY=planted-other"}},
		"a login":     {[]string{"CODEX_ACCESS_TOKEN=planted-login"}, "CODEX_ACCESS_TOKEN=planted-login"},
		"a workspace": {environ: []string{"WORKSPACE_ID=" + handle.ID(), "PLATFORM_URL=" + world.URL, "MOLECULE_WORKSPACE_TOKEN=" + handle.Token(), "CONFIGS_DIR=" + withKey(t)}},
	} {
		t.Run(name, func(t *testing.T) {
			bin, told := codexThatTells(t)
			environ := append([]string{
				"PATH=" + os.Getenv("PATH"), "HOME=" + codextest.Dir(t, "user"), "CODEX_BIN=" + bin, "CODEX_HOME=" + codextest.Home(t),
				"RUNTIME_WORKDIR=" + codextest.Dir(t, "work"), "RUNTIME_STATE_DIR=" + codextest.Dir(t, "state"), "RUNTIME_ADDR=127.0.0.1:0",
				"RUNTIME_TOKEN=planted-token-of-callers",
			}, c.environ...)
			s, _, err := settings.Load(environ)
			if err != nil {
				t.Fatal(err)
			}
			way := Serve()
			all := way.checks
			way.checks = func(ctx context.Context, of Case, at scratch) []preflight.Check {
				return slices.DeleteFunc(all(ctx, of, at), func(c preflight.Check) bool { return c.Name == "tools (mcp)" }) // it starts this program
			}
			for _, r := range way.Examine(t.Context(), Case{Settings: s, Environ: environ, Deep: true}).Results {
				if c.has == "" && r.Name == "credential" && !strings.HasPrefix(r.Detail, "OPENAI_API_KEY") {
					t.Errorf("with a key: %+v", r)
				}
				if c.has == "" && r.Status == preflight.Fail {
					t.Errorf("%+v", r)
				}
			}
			for _, command := range []string{"--version", "sandbox", "app-server"} {
				starts, err := filepath.Glob(filepath.Join(told, command, "*"))
				if err != nil || len(starts) == 0 {
					t.Errorf("codex %s has not been started: %v", command, err)
				}
				for _, file := range starts {
					looksForPlanted(t, command, file, c.has, handle.Token())
				}
			}
		})
	}
}

// TestNetworkCheck warns where commands could call the runtime as its user does, and only there.
func TestNetworkCheck(t *testing.T) {
	const network = "[sandbox_workspace_write]\nnetwork_access = true\n"
	for name, c := range map[string]struct {
		config  string
		environ []string
		want    preflight.Status
	}{
		"open":        {network, nil, preflight.Warn},
		"no network":  {"", nil, preflight.OK},
		"not to read": {"x = ", nil, preflight.Warn},
		"a token":     {network, []string{"RUNTIME_TOKEN=a-token-of-the-suite"}, preflight.OK},
		"no sandbox":  {network, []string{"CODEX_SANDBOX=danger-full-access"}, ""},
		"read-only":   {network, []string{"CODEX_SANDBOX=read-only"}, ""},
		"not guarded": {network, []string{"RUNTIME_ADDR=0.0.0.0:0", "RUNTIME_INSECURE=1"}, preflight.Warn},
	} {
		t.Run(name, func(t *testing.T) {
			home := codextest.Dir(t, "home")
			if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(c.config), 0o600); err != nil {
				t.Fatal(err)
			}
			environ := append([]string{"HOME=" + codextest.Dir(t, "user"), "CODEX_HOME=" + home, "RUNTIME_WORKDIR=" + codextest.Dir(t, "work")}, c.environ...)
			s, _, err := settings.Load(environ)
			if err != nil {
				t.Fatal(err)
			}
			var got preflight.Result
			for _, check := range checks(s, environ, fence.Fence{}, scratch{}, codexfit.New(launch.Program(s, environ), "")) {
				if check.Name == "network" {
					got = check.Do(t.Context())
				}
			}
			if got.Status != c.want || c.want == preflight.Warn && !strings.Contains(got.Fix, "set RUNTIME_TOKEN") {
				t.Errorf("%+v, want %q", got, c.want)
			}
		})
	}
}

// looksForPlanted finds in an environment what was planted in that of the runtime, but for
// what an app-server may have.
func looksForPlanted(t *testing.T, command, file, may, token string) {
	t.Helper()
	environ, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(environ)) {
		line = strings.TrimSpace(line)
		if (strings.Contains(line, "planted") || strings.Contains(line, token)) && (command != "app-server" || line != may) {
			t.Errorf("in the environment of codex %s stands %s", command, line)
		}
	}
}

// withKey is the configuration of a workspace with the key among its secrets.
func withKey(t *testing.T) (configs string) {
	t.Helper()
	configs = codextest.Dir(t, "configs")
	if err := os.Mkdir(filepath.Join(configs, "secrets.d"), 0o700); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{"config.yaml": "name: Ada\nmodel: gpt-5.5\n", "secrets.d/OPENAI_API_KEY": "planted-key\n"} {
		if err := os.WriteFile(filepath.Join(configs, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return configs
}
