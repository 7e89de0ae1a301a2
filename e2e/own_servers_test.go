package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// hookHash is codex's hash of the hook "sh which.sh hook" before a prompt, by which its user
// trusts it (hooks/list of 0.169.0 says it).
const hookHash = "sha256:aeb0adf04aa51249259071eda8c285918b4faae0835e4f4e39ea896e65bbb2e4"

// ownConfig is a configuration of the operator's whose programs take a file of the folder
// that they are started in, as npx and python3 -m do.
func ownConfig(home, work string) string {
	return fmt.Sprintf(`notify = ["sh", "which.sh", "notify"]
mcp_servers.inline = { command = "sh", args = ["which.sh", "inline"] }
[mcp_servers.plain]
command = "sh"
args = ["which.sh", "plain"]
[mcp_servers."with.dots"]
command = "sh"
args = ["which.sh", "dots"]
[mcp_servers.relative]
command = "sh"
args = ["which.sh", "relative"]
cwd = "."
[mcp_servers.program]
command = "./which.sh"
args = ["program"]
[mcp_servers.chosen]
command = "sh"
args = ["which.sh", "chosen"]
cwd = %q
[mcp_servers.far]
url = "http://127.0.0.1:9/mcp"
http_headers_helper = "sh which.sh helper; echo '{}'"
[[hooks.UserPromptSubmit]]
[[hooks.UserPromptSubmit.hooks]]
type = "command"
command = "sh which.sh hook"
[hooks.state.%q]
trusted_hash = %q
`, work, filepath.Join(home, "config.toml")+":user_prompt_submit:0:0", hookHash)
}

// TestServersOfTheOperatorsRunNothingOfCommands: programs that the operator's configuration
// has codex start outside of its sandbox take nothing that commands have planted in the
// working directory; where the operator says so themselves they do, and the log warns.
func TestServersOfTheOperatorsRunNothingOfCommands(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sandbox string
		want    map[string]string
	}{
		"sandboxed": {"workspace-write", map[string]string{
			"inline": "home", "plain": "home", "dots": "home", "relative": "home", "program": "home", "notify": "home", "helper": "home",
			"chosen": "planted", "hook": "planted",
		}},
		"without": {"danger-full-access", map[string]string{
			"inline": "planted", "plain": "planted", "dots": "planted", "relative": "planted", "program": "planted", "notify": "planted", "helper": "planted",
			"chosen": "planted", "hook": "planted",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, work, outside := codextest.Home(t), codextest.Dir(t, "work"), codextest.Dir(t, "outside")
			config := ownConfig(home, work)
			writeFile(t, filepath.Join(home, "config.toml"), config)
			p := start(t, "CODEX_HOME="+home, "RUNTIME_WORKDIR="+work, "CODEX_SANDBOX="+c.sandbox, "CODEX_APPROVAL_POLICY=never")
			script := "#!/bin/sh\necho %s > " + outside + "/$1\n"
			writeFile(t, filepath.Join(work, "which.sh"), "") // a hook without its program would refuse the message
			if got := text(p.send("plant", "one", "run printf '"+strings.ReplaceAll(fmt.Sprintf(script, "planted"), "\n", `\n`)+"' > which.sh && chmod +x which.sh && echo $((40+2)) planted")); !strings.Contains(got, "42 planted") {
				t.Fatalf("nothing was planted: %q", got)
			}
			own := filepath.Join(home, "which.sh")
			writeFile(t, own, fmt.Sprintf(script, "home"))
			if err := os.Chmod(own, 0o700); err != nil {
				t.Fatal(err)
			}
			p.send("m2", "two", "run true")
			for program, want := range c.want {
				sign := filepath.Join(outside, program)
				progtest.WaitFor(t, program+" to have run", func() bool { said, err := os.ReadFile(sign); return err == nil && len(said) > 0 })
				if got := strings.TrimSpace(contents(t, sign)); got != want {
					t.Errorf("%s runs what stands in %s, not in %s", program, got, want)
				}
			}
			warned := strings.Count(p.Log(), "doubtful configuration")
			if c.sandbox == "workspace-write" && (warned != 2 || !strings.Contains(p.Log(), "the MCP server chosen is started in "+work) || !strings.Contains(p.Log(), "codex runs hooks in the folder")) || c.sandbox != "workspace-write" && warned != 0 {
				t.Errorf("%d warnings:\n%s", warned, p.Log())
			}
			if config != contents(t, filepath.Join(home, "config.toml")) {
				t.Error("the operator's file was changed")
			}
			// One that the operator takes away stops no conversation.
			writeFile(t, filepath.Join(home, "config.toml"), strings.ReplaceAll(config, "[mcp_servers.plain]", "[other]"))
			if got := text(p.send("m3", "three", "say still there")); !strings.Contains(got, "still there") {
				t.Errorf("after a server was removed: %q\n%s", got, p.Log())
			}
		})
	}
}

// TestWorkDirThatIsNotThere: codex is not started for commands that would all fail.
func TestWorkDirThatIsNotThere(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(codextest.Dir(t, "outside"), "missing")
	p := start(t, "RUNTIME_WORKDIR="+missing)
	task := p.send("m1", "c", "run true")
	if said := fmt.Sprint(at(task, "status", "message")); state(task) != "TASK_STATE_FAILED" || !strings.Contains(said, missing) {
		t.Errorf("%s: %s", state(task), said)
	}
}

// TestFoldersOfServers: servers that name no folder are started in codex's home, which commands do
// not write: those of a folder that the user trusts, and such as were added while codex runs.
func TestFoldersOfServers(t *testing.T) {
	t.Parallel()
	work, outside, home := codextest.Dir(t, "work"), codextest.Dir(t, "outside"), codextest.Home(t)
	server := func(name string) string {
		return fmt.Sprintf("[mcp_servers.%s]\ncommand = \"sh\"\nargs = [\"-c\", \"pwd > %s/%[1]s\"]\n", name, outside)
	}
	if err := os.Mkdir(filepath.Join(work, ".codex"), 0o755); err != nil {
		t.Fatal(err)
	}
	trusts := fmt.Sprintf("[projects.%q]\ntrust_level = \"trusted\"\n", work)
	writeFile(t, filepath.Join(work, ".codex", "config.toml"), server("first"))
	writeFile(t, filepath.Join(home, "config.toml"), trusts)
	p := start(t, "RUNTIME_WORKDIR="+work, "CODEX_HOME="+home)
	begun := func(name string) {
		t.Helper()
		file := filepath.Join(outside, name)
		progtest.WaitFor(t, "the server to have run", func() bool { said, err := os.ReadFile(file); return err == nil && len(said) > 0 })
		if got := strings.TrimSpace(contents(t, file)); got != home {
			t.Errorf("the server %s is started in %s", name, got)
		}
	}
	p.send("m1", "c1", "say hello")
	begun("first")
	writeFile(t, filepath.Join(work, ".codex", "config.toml"), server("first")+server("second"))
	writeFile(t, filepath.Join(home, "config.toml"), trusts+server("third"))
	p.send("m2", "c2", "say hello")
	begun("second")
	begun("third")
}
