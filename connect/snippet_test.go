package connect_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/connect"
)

// The programs that the block runs, as far as these tests need them: each writes down
// how it was called, and runtime what it was told.
const (
	fakeCodex   = "#!/bin/sh\nfor a; do printf '<%s>' \"$a\"; done >>\"$HOME/codex.calls\"\necho >>\"$HOME/codex.calls\"\n"
	fakeRuntime = "#!/bin/sh\necho \"$*\" >>\"$HOME/runtime.calls\"\nenv >\"$HOME/runtime.env\"\ncat \"$MOLECULE_WORKSPACE_TOKEN_FILE\" >\"$HOME/runtime.token\"\n"
)

// A terminal is a person's home, and a shell there.
type terminal struct {
	t     *testing.T
	shell []string
	home  string
	path  string
}

// shells are those in which people paste, as far as they are here; bash is.
func inShells(t *testing.T, test func(t *testing.T, at *terminal)) {
	for name, shell := range map[string][]string{
		"bash": {"bash", "--norc", "--noprofile"}, "bash-interactive": {"bash", "--norc", "--noprofile", "-i"},
		"zsh": {"zsh", "-f"}, "zsh-interactive": {"zsh", "-f", "-i"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(shell[0]); err != nil {
				if shell[0] == "bash" {
					t.Fatal(err)
				}
				t.Skip(err)
			}
			at := &terminal{t: t, shell: shell, home: filepath.Join(t.TempDir(), "a home's $(touch pwned) \"folder\"")}
			bin := filepath.Join(at.home, "bin")
			if err := os.MkdirAll(bin, 0o700); err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{"codex": fakeCodex, "molecule-runtime": fakeRuntime} {
				if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			at.path = bin + ":" + os.Getenv("PATH")
			test(t, at)
		})
	}
}

// paste gives the block to the shell as a person does, and returns what that shows.
func (at *terminal) paste(block string, env ...string) (shown string, status int) {
	at.t.Helper()
	cmd := exec.CommandContext(at.t.Context(), at.shell[0], at.shell[1:]...)
	cmd.Dir, cmd.Stdin = at.home, strings.NewReader(block+"\nexit $?\n")
	cmd.Env = append([]string{"HOME=" + at.home, "PATH=" + at.path, "TERM=dumb", "HISTFILE=/dev/null"}, env...)
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(out), exit.ExitCode()
	}
	if err != nil {
		at.t.Fatal(err)
	}
	return string(out), 0
}

func (at *terminal) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(at.home, name))
	return string(text)
}

// untouched fails the test if anything but the programs is in the home.
func (at *terminal) untouched() {
	at.t.Helper()
	_ = filepath.WalkDir(at.home, func(path string, entry os.DirEntry, err error) error {
		if rel, _ := filepath.Rel(at.home, path); err == nil && !entry.IsDir() && !slices.Contains([]string{"bin/codex", "bin/molecule-runtime"}, rel) {
			at.t.Errorf("%s has come into the home", rel)
		}
		return nil
	})
}

// filled is the block as the platform fills it in: nothing is looked at.
func filled(url, id, token, name string) string {
	return strings.NewReplacer("{{PLATFORM_URL}}", url, "{{WORKSPACE_ID}}", id, "{{AUTH_TOKEN}}", token, "{{MCP_SERVER_NAME}}", name).Replace(connect.Template())
}

const (
	goodURL, goodID    = "https://tenant.example:8443/a%20b", "7d2f0c9e-35c1-4a52-9b1e-0f6f6a2f1c11"
	goodToken, goodMCP = "aB3-_.~+/=", "molecule-my-codex"
)

func TestSnippetParses(t *testing.T) {
	for _, block := range []string{connect.Template(), filled(goodURL, goodID, goodToken, goodMCP)} {
		cmd := exec.CommandContext(t.Context(), "bash", "-n")
		cmd.Stdin = strings.NewReader(block)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%v: %s", err, out)
		}
	}
}

// TestSnippetNeedsAToken runs nothing and writes nothing without one.
func TestSnippetNeedsAToken(t *testing.T) {
	inShells(t, func(t *testing.T, at *terminal) {
		for _, token := range []string{"", connect.NoToken, "{{AUTH_TOKEN}}", " ", "two words"} {
			shown, status := at.paste(filled(goodURL, goodID, token, goodMCP))
			if status != 1 || !strings.Contains(shown, sentinel) {
				t.Errorf("token %q: exit %d, %s", token, status, shown)
			}
			at.untouched()
		}
	})
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
		if shown, status := at.paste(filled(goodURL, goodID, goodToken, goodMCP), "MOLECULE_ORG_ID=o\nX=1"); status != 1 || !strings.Contains(shown, "MOLECULE_ORG_ID") {
			t.Errorf("organisation: exit %d, %s", status, shown)
		}
		at.untouched()
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
			"><--env=MOLECULE_ORG_ID=org-1><--><" + filepath.Join(at.home, "bin/molecule-runtime") + "><mcp>\n"
		if got := at.read("codex.calls"); got != want+want {
			t.Errorf("codex was called with\n%swant twice\n%s", got, want)
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

// TestSnippetSaysWhatIsMissing has neither codex nor a way to get it.
func TestSnippetSaysWhatIsMissing(t *testing.T) {
	inShells(t, func(t *testing.T, at *terminal) {
		tools := filepath.Join(at.home, "tools")
		if err := os.Mkdir(tools, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{at.shell[0], "mkdir", "mv", "cat", "env", "sh"} {
			path, err := exec.LookPath(name)
			if err == nil {
				err = os.Symlink(path, filepath.Join(tools, name))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		at.path = tools
		if shown, status := at.paste(filled(goodURL, goodID, goodToken, goodMCP)); status != 1 || !strings.Contains(shown, "codex is not installed") {
			t.Errorf("without codex: exit %d, %s", status, shown)
		}
		if err := os.Symlink(filepath.Join(at.home, "bin/codex"), filepath.Join(tools, "codex")); err != nil {
			t.Fatal(err)
		}
		if shown, status := at.paste(filled(goodURL, goodID, goodToken, goodMCP)); status != 1 || !strings.Contains(shown, "molecule-runtime is not installed") {
			t.Errorf("without the runtime: exit %d, %s", status, shown)
		}
		if at.read("codex.calls")+at.read(".config/molecule-codex/"+goodID+".token") != "" {
			t.Error("something was done before all was there")
		}
	})
}
