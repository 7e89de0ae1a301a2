package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestMemberMoves: a machine that the list has under another address is the same: a turn that runs there goes on, and behind it
// the conversation does, by another way of codex's.
func TestMemberMoves(t *testing.T) {
	t.Parallel()
	work := codextest.Dir(t, "work")
	m := startMember(t, "m1", work)
	list := filepath.Join(codextest.Dir(t, "list"), "machines")
	write := func(at string) {
		if err := os.WriteFile(list+".new", []byte(at+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(list+".new", list); err != nil {
			t.Fatal(err)
		}
	}
	write(m.at)
	p := start(t, "RUNTIME_WORKDIR="+work, "RUNTIME_MACHINES=file:"+list, "RUNTIME_MACHINES_TOKEN="+machinesToken)
	p.Work = work
	p.send("1", "one", "run true")
	running := p.begin("2", "one", "run touch begun; until test -e go; do sleep 0.05; done; echo well")["id"]
	progtest.WaitFor(t, "the command to begin", func() bool { _, err := os.Stat(filepath.Join(work, "begun")); return err == nil })
	write(strings.Replace(m.at, "127.0.0.1", "localhost", 1))
	progtest.WaitFor(t, "the other address to be heard", func() bool {
		out, _ := p.machines()
		return strings.Contains(out, "another machine with the name m1")
	})
	if err := os.WriteFile(filepath.Join(work, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if task := p.ended(running); text(task) != "well" {
		t.Errorf("the turn that ran: %v", task["status"])
	}
	if task := p.send("3", "one", "run echo here"); text(task) != "here" || on(task) != "m1" {
		t.Errorf("on %s: %v: %q", on(task), task["status"], text(task))
	}
	write("# " + m.at) // away
	progtest.WaitFor(t, "the machine to be gone", func() bool {
		out, _ := p.machines()
		return !strings.Contains(out, "up ")
	})
	write(m.at)
	if task := p.send("4", "one", "run echo again"); text(task) != "again" || on(task) != "m1" {
		t.Errorf("on %s: %v: %q", on(task), task["status"], text(task))
	}
}
