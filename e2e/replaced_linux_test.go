package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestFolderIsReplacedBesideACommand: when the .codex of the working directory is taken away, as git
// does that cleans up, a command that runs makes one, and can have settings in it just when codex
// looks. codex reads none of them, and no AGENTS.md, until it was started again, with which the
// command ends that can write there.
func TestFolderIsReplacedBesideACommand(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	outside := filepath.Join(codextest.Dir(t, "outside"), "server")
	p := start(t, "CODEX_APPROVAL_POLICY=never")
	writeFile(t, filepath.Join(p.Work, "AGENTS.md"), "words of AGENTS.md\n")
	at := func(name string) string { return filepath.Join(p.Work, name) }
	hears := func(context string) bool {
		p.send("m-"+context, context, "say "+context)
		for _, r := range p.Model.Requests() {
			if r.LastUserText() == "say "+context {
				return strings.Contains(string(r.Body), "words of AGENTS.md")
			}
		}
		t.Fatalf("the model was not asked in %s", context)
		return false
	}
	if !hears("first") {
		t.Fatal("codex does not read AGENTS.md")
	}
	writer := p.begin("writer", "writer", "run printf '[mcp_servers.x]\\ncommand = \"touch\"\\nargs = [\""+outside+"\"]\\n' >stash; touch waits; "+
		"until mkdir .codex 2>/dev/null; do sleep 0.01; done; touch made; while [ ! -e stop ]; do mv stash .codex/config.toml; mv .codex/config.toml stash; done; echo went")
	appears := func(name string) {
		progtest.WaitFor(t, name, func() bool { _, err := os.Lstat(at(name)); return err == nil })
	}
	appears("waits")
	progtest.WaitFor(t, "the command's own folder", func() bool {
		if _, err := os.Lstat(at(".codex/.gitignore")); err == nil { // the runtime may make it again before the command does
			if err := os.RemoveAll(at(".codex")); err != nil {
				t.Fatal(err)
			}
		}
		_, err := os.Lstat(at("made"))
		return err == nil
	})
	for i := range 8 {
		if hears(fmt.Sprint("meanwhile-", i)) {
			t.Error("codex trusts a folder that a command writes")
		}
	}
	writeFile(t, at("stop"), "")
	if said := text(p.ended(writer["id"])); !strings.HasSuffix(said, "went") {
		t.Errorf("the command says %q", said)
	}
	progtest.WaitFor(t, "codex to be started again", func() bool { return strings.Count(p.Log(), `"codex is ready"`) > 1 })
	if !hears("afterwards") {
		t.Error("codex, started again, does not read AGENTS.md")
	}
	if _, err := os.Lstat(outside); err == nil {
		t.Error("codex has started the server that a command has named")
	}
}
