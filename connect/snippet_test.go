package connect_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/connect"
)

const (
	goodURL, goodID    = "https://tenant.example:8443/a%20b", "7d2f0c9e-35c1-4a52-9b1e-0f6f6a2f1c11"
	goodToken, goodMCP = "aB3-_.~+/=", "molecule-my-codex"
)

func TestSnippetParses(t *testing.T) {
	for _, block := range []string{connect.Template(connect.Release{}), filled(goodURL, goodID, goodToken, goodMCP)} {
		cmd := exec.CommandContext(t.Context(), "bash", "-n")
		cmd.Stdin = strings.NewReader(block)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%v: %s", err, out)
		}
	}
}

// TestSnippetNeedsAToken runs nothing and writes nothing without one. That the token is
// shown no more is no failure: a shell that leaves with the first one would close.
func TestSnippetNeedsAToken(t *testing.T) {
	inShells(t, func(t *testing.T, at *terminal) {
		for token, want := range map[string]int{"": 1, connect.NoToken: 0, "{{AUTH_TOKEN}}": 1, " ": 1, "two words": 1} {
			shown, status := at.paste(filled(goodURL, goodID, token, goodMCP))
			if status != want || !strings.Contains(shown, sentinel) || !strings.Contains(shown, "copy the block anew") {
				t.Errorf("token %q: exit %d, %s", token, status, shown)
			}
			at.untouched()
		}
	})
}

// TestSnippetSaysWhichShell pastes a good block into a shell that reads its patterns in
// another way: what is wrong is the shell, not the token.
func TestSnippetSaysWhichShell(t *testing.T) {
	if _, err := exec.LookPath("dash"); err != nil {
		t.Skip(err)
	}
	at := &terminal{t: t, shell: []string{"dash"}, home: t.TempDir(), path: os.Getenv("PATH")}
	shown, status := at.paste(filled(goodURL, goodID, goodToken, goodMCP))
	if status != 1 || !strings.Contains(shown, "this block is for bash and zsh") || strings.Contains(shown, sentinel) {
		t.Errorf("exit %d: %s", status, shown)
	}
	at.untouched()
}

// TestSnippetRunsNoValue puts into each place what a shell would run, or take apart.
func TestSnippetRunsNoValue(t *testing.T) {
	hostile := []string{
		"$(touch pwned)", "`touch pwned`", "'; touch pwned; '", `"; touch pwned; "`, "a b", "x\ntouch pwned", "\ntouch pwned",
		"a\\", "${HOME}", "*", "~", ") ; touch pwned", "a&touch pwned", "a|touch pwned", "{{WORKSPACE_ID}}", "../../x", "--help",
	}
	inShells(t, func(t *testing.T, at *terminal) {
		for _, value := range hostile {
			values := map[string]string{"url": filled(value, goodID, goodToken, goodMCP), "host": filled("https://x"+value, goodID, goodToken, goodMCP), "id": filled(goodURL, value, goodToken, goodMCP), "name": filled(goodURL, goodID, goodToken, value)}
			if value == "~" || value == "../../x" || value == "--help" { // these may stand in a URL, and be tokens
				delete(values, "host")
			} else {
				values["token"] = filled(goodURL, goodID, value, goodMCP)
			}
			for what, block := range values {
				if shown, status := at.paste(block); status != 1 || !strings.Contains(shown, "molecule: ") {
					t.Errorf("%s %q: exit %d, %s", what, value, status, shown)
				}
				at.untouched()
			}
		}
	})
}

// TestSnippetConnects follows the block to its end, twice: the second time with another
// token, as after a rotation.
func TestSnippetConnects(t *testing.T) {
	inShells(t, func(t *testing.T, at *terminal) {
		for _, token := range []string{goodToken, "the-next"} {
			shown, status := at.paste(filled(goodURL, goodID, token, goodMCP), "MOLECULE_ORG_ID=org-1")
			if status != 0 || !strings.Contains(shown, "connecting workspace "+goodID) || strings.Contains(shown, goodToken) && !strings.Contains(at.shell[len(at.shell)-1], "-i") {
				t.Fatalf("exit %d: %s", status, shown)
			}
			if got := at.read("runtime.token"); got != token+"\n" {
				t.Errorf("the channel finds the token %q", got)
			}
		}
		if got := at.read("runtime.calls"); got != "channel\nchannel\n" {
			t.Errorf("the runtime was called with %q", got)
		}
		file := filepath.Join(at.home, ".config/molecule-codex", goodID+".token")
		want := "<mcp><add><" + goodMCP + "><--env><WORKSPACE_ID=" + goodID + "><--env><PLATFORM_URL=" + goodURL + "><--env><MOLECULE_WORKSPACE_TOKEN_FILE=" + file +
			"><--env=MOLECULE_ORG_ID=org-1><--><" + filepath.Join(at.home, "bin/molecule-runtime") + "><mcp><--inbox=beside>\n<mcp><get><" + goodMCP + ">\n"
		if got := at.read("codex.calls"); got != want+want {
			t.Errorf("codex was called with\n%swant twice\n%s", got, want)
		}
		if got, want := at.read(".codex/config.toml"), "[mcp_servers."+goodMCP+"]\nstartup_timeout_sec = 30\ndefault_tools_approval_mode = \"approve\"\ndisabled_tools = [\"codex_bridge\"]\ncommand = \"x\"\n"; got != want {
			t.Errorf("codex is configured with\n%swant\n%s", got, want)
		}
		env := strings.Split(at.read("runtime.env"), "\n")
		for _, variable := range []string{"WORKSPACE_ID=" + goodID, "PLATFORM_URL=" + goodURL, "MOLECULE_WORKSPACE_TOKEN_FILE=" + file, "MOLECULE_ORG_ID=org-1"} {
			if !slices.Contains(env, variable) {
				t.Errorf("the channel is not told %s", variable)
			}
		}
		left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), "*"))
		if len(left) != 2 {
			t.Errorf("it leaves %v", left)
		}
		for _, name := range left {
			if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", name, info.Mode(), err)
			}
		}
	})
}

// TestSnippetKeepsWhatWasAdded pastes the block again, over settings that its owner has
// added to, and with another platform: what is the block's own is replaced.
func TestSnippetKeepsWhatWasAdded(t *testing.T) {
	inShells(t, func(t *testing.T, at *terminal) {
		file := filepath.Join(at.home, ".config/molecule-codex", goodID+".env")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("WORKSPACE_ID=w\nPLATFORM_URL=http://old\nMOLECULE_WORKSPACE_TOKEN_FILE=x\nMOLECULE_ORG_ID=org-1\nRUNTIME_STATE_DIR=~/second\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for org, env := range map[string][]string{"org-1": nil, "org-2": {"MOLECULE_ORG_ID=org-2"}} {
			if shown, status := at.paste(filled(goodURL, goodID, goodToken, goodMCP), env...); status != 0 {
				t.Fatalf("exit %d: %s", status, shown)
			}
			lines := strings.Split(strings.TrimSpace(at.read(".config/molecule-codex/"+goodID+".env")), "\n")
			slices.Sort(lines)
			want := []string{"MOLECULE_ORG_ID=" + org, "MOLECULE_WORKSPACE_TOKEN_FILE=~/.config/molecule-codex/" + goodID + ".token", "PLATFORM_URL=" + goodURL, "RUNTIME_STATE_DIR=~/second", "WORKSPACE_ID=" + goodID}
			if !slices.Equal(lines, want) {
				t.Errorf("the settings are %q, want %q", lines, want)
			}
			if !strings.Contains(at.read("codex.calls"), "<--env=MOLECULE_ORG_ID="+org+">") {
				t.Errorf("the tools are not told the organisation %s", org)
			}
			if err := os.WriteFile(file, []byte("MOLECULE_ORG_ID=org-1\nRUNTIME_STATE_DIR=~/second\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestSnippetTakesBackWhatCodexRefuses has a codex that does not know the settings: the
// configuration stays one that it can read, and the channel runs.
func TestSnippetTakesBackWhatCodexRefuses(t *testing.T) {
	inShells(t, func(t *testing.T, at *terminal) {
		if err := os.WriteFile(filepath.Join(at.home, "strict"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		shown, status := at.paste(filled(goodURL, goodID, goodToken, goodMCP))
		if status != 0 || !strings.Contains(shown, "codex will ask about each call") || at.read("runtime.calls") != "channel\n" {
			t.Errorf("exit %d, %s", status, shown)
		}
		if got, want := at.read(".codex/config.toml"), "[mcp_servers."+goodMCP+"]\ncommand = \"x\"\n"; got != want {
			t.Errorf("codex is configured with\n%swant\n%s", got, want)
		}
		if left, err := os.ReadDir(filepath.Join(at.home, ".codex")); err != nil || len(left) != 1 {
			t.Errorf("%v is left, %v", left, err)
		}
	})
}
