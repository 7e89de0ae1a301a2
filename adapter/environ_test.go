package adapter

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/provider"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

func TestChildEnv(t *testing.T) {
	in := []string{
		"PATH=/bin", "GH_TOKEN=g", "CODEX_HOME=/old", "CODEX_SANDBOX=auto", "CODEX_BIN=b", "RUNTIME_TOKEN=t", "RUNTIME_X=x",
		"MOLECULE_WORKSPACE_TOKEN=t", "MOLECULE_ADMIN_TOKEN=t", "ADMIN_TOKEN=t", "CP_TOKEN=t", "CODEX_AUTH_JSON={}",
		"OPENAI_API_KEY= k\n", "ANTHROPIC_API_KEY=k", "CODEX_ACCESS_TOKEN=k", "SENTRY_DSN=k", "HF_TOKEN=h", "RUST_LOG=warn", "MOLECULE_ORG_ID=o", "broken", "A=b=c",
	}
	always := []string{"PATH=/bin", "GH_TOKEN=g", "HF_TOKEN=h", "RUST_LOG=warn", "MOLECULE_ORG_ID=o", "A=b=c", "CODEX_HOME=/new"}
	for name, c := range map[string]struct {
		p    Provider
		more []string
	}{
		"key":                {Provider{KeyName: "OPENAI_API_KEY", Keys: provider.Keys(nil)}, []string{"OPENAI_API_KEY=k"}},
		"scripted":           {Provider{KeyName: "OPENAI_API_KEY", ScriptedURL: "http://s", Keys: provider.Keys(nil)}, nil},
		"keyless":            {Provider{BaseURL: "http://m", Keys: provider.Keys(nil)}, nil},
		"login":              {Provider{Login: true, Keys: provider.Keys(nil)}, []string{"CODEX_ACCESS_TOKEN=k"}},
		"forward":            {Provider{KeyName: "OPENAI_API_KEY", Keys: provider.Keys(nil), Forward: Forward{"http://f", "t"}}, []string{"MOLECULE_FORWARD_TOKEN=t"}},
		"keyless, forwarded": {Provider{BaseURL: "http://m", Keys: provider.Keys(nil), Forward: Forward{"http://f", "t"}}, []string{"MOLECULE_FORWARD_TOKEN=t"}},
		"codexs":             {Provider{}, []string{"OPENAI_API_KEY=k", "ANTHROPIC_API_KEY=k", "CODEX_ACCESS_TOKEN=k"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, want := ChildEnv(in, "/new", c.p), slices.Concat(always, c.more)
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
		})
	}
}

// TestBareEnv: what codex is merely started with holds nothing that opens anything, whatever
// it is called, with the key of the runtime and where codex has its own.
func TestBareEnv(t *testing.T) {
	in := []string{
		"PATH=/bin", "HOME=/h", "LC_ALL=C", "LD_LIBRARY_PATH=/lib", "HTTPS_PROXY=http://p", "CODEX_HOME=/old", "CODEX_CA_CERTIFICATE=/c",
		"OPENAI_API_KEY=k", "ANTHROPIC_API_KEY=k", "CODEX_ACCESS_TOKEN=k", "CODEX_API_KEY=k", "KEY_OF_MINE=k", "RUNTIME_TOKEN=t",
		"MOLECULE_WORKSPACE_TOKEN=t", "GH_TOKEN=g", "NODE_AUTH_TOKEN=n", "MOLECULE_FORWARD_TOKEN=f",
	}
	want := []string{
		"PATH=/bin", "HOME=/h", "LC_ALL=C", "LD_LIBRARY_PATH=/lib", "HTTPS_PROXY=http://p", "CODEX_CA_CERTIFICATE=/c",
		"NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost", "CODEX_HOME=/new", "GIT_CONFIG_COUNT=none-for-codex-itself", "GIT_TRACE2=0", "GIT_TRACE2_EVENT=0", "GIT_TRACE2_PERF=0",
	}
	for _, key := range []bool{true, false} {
		launch, _, _, err := Look(SetupConfig{Launch: Launch{Home: "/new", Environ: in, Provider: Alone(key, "", "")}})
		if got := launch.BareEnv(); err != nil || !slices.Equal(got, want) {
			t.Errorf("with a key %v: %q, %v, want %q", key, got, err, want)
		}
		if has := slices.Contains(launch.Env(), "OPENAI_API_KEY=k"); has == key {
			t.Errorf("with a key %v, an app-server has it: %v", key, has)
		}
	}
}

// TestLeanFeaturesExist shows when codex drops or adopts a feature that we
// switch off: an override of a name that is gone does nothing, in silence.
func TestLeanFeaturesExist(t *testing.T) {
	cmd := exec.Command(codextest.Bin(t), append([]string{"features", "list"}, Lean()...)...)
	cmd.Env = []string{"CODEX_HOME=" + codextest.Home(t)}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range lean() {
		line := regexp.MustCompile(`(?m)^` + f + `\s.*$`).FindString(string(out))
		if !strings.HasSuffix(line, "false") || strings.Contains(line, "removed") {
			t.Errorf("%s: %q, want it to exist and to be off", f, line)
		}
	}
}

// TestEnvironmentOfAnotherUser is that user's, unless it was so before.
func TestEnvironmentOfAnotherUser(t *testing.T) {
	agent := &asuser.User{Name: "agent", Home: "/home/agent"}
	for _, c := range []struct{ environ, want []string }{
		{[]string{"HOME=/root", "USER=root", "LOGNAME=root", "A=b"}, []string{"A=b", "CODEX_HOME=/h", "USER=agent", "LOGNAME=agent", "HOME=/home/agent", "GIT_CONFIG_COUNT=none-for-codex-itself", "GIT_TRACE2=0", "GIT_TRACE2_EVENT=0", "GIT_TRACE2_PERF=0"}},
		{[]string{"HOME=/configs/.home", "USER=agent"}, []string{"HOME=/configs/.home", "USER=agent", "CODEX_HOME=/h", "GIT_CONFIG_COUNT=none-for-codex-itself", "GIT_TRACE2=0", "GIT_TRACE2_EVENT=0", "GIT_TRACE2_PERF=0"}},
	} {
		if got := (Launch{Home: "/h", User: agent, Environ: c.environ}).Env(); !slices.Equal(got, c.want) {
			t.Errorf("of %q: %q, want %q", c.environ, got, c.want)
		}
	}
	if got := (Launch{Home: "/h", Environ: []string{"USER=root"}}).Env(); !slices.Contains(got, "USER=root") {
		t.Errorf("ourselves: %q", got)
	}
}
