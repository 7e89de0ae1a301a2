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

// tellsTemp is a program of the operator's that says where it keeps what it runs later.
const tellsTemp = "#!/bin/sh\nprintf %%s \"$TMPDIR\" > %s/$1\n"

// TestTempOfTheOperatorsPrograms: programs that the operator's configuration has codex start
// outside of its sandbox have a temp directory that commands do not write, in which a cache by a
// name that can be foretold would be a program of theirs. Commands have one of their own.
func TestTempOfTheOperatorsPrograms(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(t *testing.T, home, work string, extra ...string) *program{"one-user": asOne, "two-users": asTwo} {
		for _, mode := range []string{"workspace-write", "danger-full-access"} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				home, work, told := withPrograms(t)
				p := begin(t, home, work, "CODEX_SANDBOX="+mode, "CODEX_APPROVAL_POLICY=never")
				if s := state(p.sendIn("workspace-write", "m1", "run true")); s != "TASK_STATE_COMPLETED" {
					t.Fatal(s)
				}
				if got := told("own"); got != ownTemp {
					t.Errorf("the server that sets a TMPDIR has %q", got)
				}
				temp := told("plain")
				for _, program := range []string{"inline", "dots", "relative", "program", "chosen", "notify", "hook"} {
					if got := told(program); got != temp {
						t.Errorf("%s has the TMPDIR %q, and another %q", program, got, temp)
					}
				}
				patched := text(p.sendIn("workspace-write", "m2", "patch "+filepath.Join(temp, "planted"))) // codex looks at its own TMPDIR there
				untouched(t, temp, patched)
				said := text(p.sendIn("workspace-write", "m3", fmt.Sprintf(
					"run for dir in %s %[1]s/..; do touch $dir/planted; mv $dir $dir-moved; chmod 000 $dir; done; f=$(mktemp) && echo words > $f && cat $f && echo is $TMPDIR", temp)))
				if !strings.Contains(said, "words\nis /") || strings.Contains(said, "is "+temp+"\n") {
					t.Errorf("in a temp directory of its own a command says %s", said)
				}
				untouched(t, temp, said)
				p.Stop()
				if _, err := os.Lstat(temp); err == nil {
					t.Errorf("%s is left", temp)
				}
			})
		}
	}
}

// ownTemp is what an MCP server sets for itself.
const ownTemp = "/var/tmp"

// withPrograms makes folders with programs that the operator's configuration names; told is what
// one of them has said once it has run.
func withPrograms(t *testing.T) (home, work string, told func(program string) string) {
	t.Helper()
	home, work, outside := codextest.Home(t), codextest.Dir(t, "work"), codextest.Dir(t, "outside")
	config := filepath.Join(home, "config.toml")
	writeFile(t, config, ownConfig(home, work)+fmt.Sprintf("[mcp_servers.own]\ncommand = \"sh\"\nargs = [\"which.sh\", \"own\"]\nenv = { TMPDIR = %q }\n", ownTemp))
	modes := map[string]os.FileMode{outside: 0o777, config: 0o644} // for another user
	for _, dir := range []string{home, work} {
		program := filepath.Join(dir, "which.sh")
		writeFile(t, program, fmt.Sprintf(tellsTemp, outside))
		modes[program] = 0o755
	}
	for path, mode := range modes {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	return home, work, func(program string) string {
		t.Helper()
		sign := filepath.Join(outside, program)
		progtest.WaitFor(t, program+" to have run", func() bool { said, err := os.ReadFile(sign); return err == nil && len(said) > 0 })
		return contents(t, sign)
	}
}

// untouched fails where a turn has written into dir, or closed it.
func untouched(t *testing.T, dir, said string) {
	t.Helper()
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%s is %v, %v; a turn says %s", dir, info, err, said)
	}
	if _, err := os.Lstat(filepath.Join(dir, "planted")); err == nil {
		t.Errorf("a turn has written into %s, and says %s", dir, said)
	}
}

func asOne(t *testing.T, home, work string, extra ...string) *program {
	t.Helper()
	return start(t, append(extra, "CODEX_HOME="+home, "RUNTIME_WORKDIR="+work)...)
}

func asTwo(t *testing.T, home, work string, extra ...string) *program {
	t.Helper()
	for _, dir := range []string{home, work} {
		if err := os.Chown(dir, commandUser, commandUser); err != nil {
			t.Skip("this takes root")
		}
	}
	return startAsTwo(t, append(extra, "CODEX_HOME="+home, "RUNTIME_WORKDIR="+work, "HOME="+codextest.Dir(t, "user"))...)
}

// sendIn sends a message that asks for a sandbox.
func (p *program) sendIn(sandbox, id, words string) object {
	p.t.Helper()
	m := message(id, "", words)
	m["metadata"] = object{"sandbox": sandbox}
	return p.task(p.call("SendMessage", object{"message": m}))
}
