package connect_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The programs that the block runs, as far as these tests need them: each writes down
// how it was called, and runtime what it was told.
const (
	fakeCodex = "#!/bin/sh\nfor a; do printf '<%s>' \"$a\"; done >>\"$HOME/codex.calls\"\necho >>\"$HOME/codex.calls\"\n" +
		"if [ \"$2\" = add ]; then mkdir -p \"$HOME/.codex\"; printf '[mcp_servers.%s]\\ncommand = \"x\"\\n' \"$3\" >\"$HOME/.codex/config.toml\"; fi\n" +
		"if [ \"$2\" = get ] && [ -e \"$HOME/strict\" ]; then exit 1; fi\n"
	fakeRuntime = "#!/bin/sh\nif [ \"$1\" = version ]; then echo \"runtime of a test\"; exit; fi\necho \"$*\" >>\"$HOME/runtime.calls\"\nenv >\"$HOME/runtime.env\"\ncat \"$MOLECULE_WORKSPACE_TOKEN_FILE\" >\"$HOME/runtime.token\"\n"
)

// A terminal is a person's home, and a shell there.
type terminal struct {
	t     *testing.T
	shell []string
	home  string
	path  string
}

// shells are those in which people paste.
var shells = map[string][]string{"bash": {"bash", "--norc", "--noprofile"}, "zsh": {"zsh", "-f"}}

// inShells tests in each shell, as a script and as in a terminal.
func inShells(t *testing.T, test func(t *testing.T, at *terminal)) {
	for name, shell := range shells {
		inShell(t, name, shell, test)
		inShell(t, name+"-interactive", append(slices.Clone(shell), "-i"), test)
	}
}

// inShell tests in a shell, if it is here; bash is.
func inShell(t *testing.T, name string, shell []string, test func(t *testing.T, at *terminal)) {
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

// echoed is what an interactive bash shows of its input.
var echoed = regexp.MustCompile(`(?m)^(> |bash-[0-9.]+[#$] ).*\n`)

// paste gives the block to the shell as a person does, and returns what that shows.
func (at *terminal) paste(block string, env ...string) (shown string, status int) {
	at.t.Helper()
	cmd := exec.CommandContext(at.t.Context(), at.shell[0], at.shell[1:]...)
	cmd.Dir, cmd.Stdin = at.home, strings.NewReader(block+"\nexit $?\n")
	cmd.Env = append([]string{"HOME=" + at.home, "PATH=" + at.path, "TERM=dumb", "HISTFILE=/dev/null"}, env...)
	out, err := cmd.CombinedOutput()
	out = echoed.ReplaceAll(out, nil)
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

// only has the shell find these programs of the machine, beside those of the home. A
// machine that lacks one skips the test.
func (at *terminal) only(names ...string) {
	at.t.Helper()
	tools := at.t.TempDir()
	for _, name := range append(names, at.shell[0], "awk", "cat", "cp", "env", "grep", "head", "mkdir", "mktemp", "mv", "readlink", "rm", "sed", "sh", "tr", "uname") {
		path, err := exec.LookPath(name)
		if err != nil {
			at.t.Skip(err)
		}
		if err := os.Symlink(path, filepath.Join(tools, name)); err != nil {
			at.t.Fatal(err)
		}
	}
	at.path = filepath.Join(at.home, "bin") + ":" + tools
}

// has puts a program into the home.
func (at *terminal) has(name, text string) {
	at.t.Helper()
	file := filepath.Join(at.home, name)
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o700)
	}
	if err != nil {
		at.t.Fatal(err)
	}
}

func (at *terminal) lacks(name string) {
	at.t.Helper()
	if err := os.Remove(filepath.Join(at.home, name)); err != nil {
		at.t.Fatal(err)
	}
}

// holds lists what is in a folder of the home.
func (at *terminal) holds(folder string) (names []string) {
	entries, _ := os.ReadDir(filepath.Join(at.home, folder))
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}
