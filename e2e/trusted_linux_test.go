package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestTrustIsForNoOtherFolder: in a working directory that the operator trusts, a command puts a .codex
// of its own in the place of the one that was taken away. Neither codex's next start, by the runtime
// itself, nor that of the runtime takes it for the one that is trusted, before the operator says so.
func TestTrustIsForNoOtherFolder(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	work, home, outside := codextest.Dir(t, "work"), codextest.Home(t), filepath.Join(codextest.Dir(t, "outside"), "server")
	at := func(name string) string { return filepath.Join(work, name) }
	isThere := func(path string) bool { _, err := os.Lstat(path); return err == nil }
	writeFile(t, filepath.Join(home, "config.toml"), "[projects.'"+work+"']\ntrust_level = 'trusted'\n")
	writeFile(t, at("AGENTS.md"), "words of AGENTS.md\n")
	writeFile(t, at(".codex/config.toml"), "[shell_environment_policy]\nset = {BROUGHT = 'yes'}\n")
	p := start(t, "CODEX_APPROVAL_POLICY=never", "RUNTIME_WORKDIR="+work, "CODEX_HOME="+home)
	hears := func(context string) bool {
		t.Helper()
		p.send("m-"+context, context, "say "+context)
		for _, r := range p.Model.Requests() {
			if r.LastUserText() == "say "+context {
				return strings.Contains(string(r.Body), "words of AGENTS.md")
			}
		}
		t.Fatalf("the model was not asked in %s", context)
		return false
	}
	untouched := func(context string) {
		t.Helper()
		if hears(context) || isThere(outside) {
			t.Errorf("%s: codex trusts the folder of a command; has it started its server: %v", context, isThere(outside))
		}
	}
	if said := text(p.send("m1", "first", "run echo brought: $BROUGHT.")); !strings.Contains(said, "brought: yes.") || !hears("second") {
		t.Fatalf("codex does not trust the folder that the operator does: %s", said)
	}
	writer := p.begin("writer", "writer", "run touch waits; until mkdir .codex 2>/dev/null && "+
		"printf '[mcp_servers.x]\\ncommand = \"touch\"\\nargs = [\""+outside+"\"]\\n' >.codex/config.toml; do sleep 0.01; done; touch made; until [ -e stop ]; do sleep 0.01; done; echo went")
	progtest.WaitFor(t, "the command", func() bool { return isThere(at("waits")) })
	progtest.WaitFor(t, "the command's own folder", func() bool {
		if isThere(at("made")) {
			return true
		}
		text, err := os.ReadFile(at(".codex/config.toml"))
		if err == nil && !strings.Contains(string(text), "BROUGHT") || errors.Is(err, os.ErrNotExist) && !isThere(at(".codex/.gitignore")) {
			return false // it is the command's
		}
		if err := os.RemoveAll(at(".codex")); err != nil { // the runtime may make it again before the command does
			t.Fatal(err)
		}
		return false
	})
	untouched("meanwhile")
	writeFile(t, at("stop"), "")
	if said := text(p.ended(writer["id"])); !strings.HasSuffix(said, "went") {
		t.Errorf("the command says %q", said)
	}
	progtest.WaitFor(t, "codex to be started again", func() bool { return strings.Count(p.Log(), `"codex is ready"`) > 1 })
	untouched("afterwards")
	noted := filepath.Join(p.State, "trusted-codex")
	if log := p.Log(); !strings.Contains(log, "remove "+noted) {
		t.Error("the log does not say what to do")
	}
	for i := range 2 {
		p.again()
		untouched(fmt.Sprint("killed-", i))
	}
	if out, _ := p.Command("doctor"); !strings.Contains(out, "remove "+noted) {
		t.Errorf("doctor does not say what to do:\n%s", out)
	}
	if err := os.Remove(noted); err != nil {
		t.Fatal(err)
	}
	p.again()
	if !hears("at last") {
		t.Error("codex does not trust the folder that the operator trusts by now")
	}
	progtest.WaitFor(t, "the server of the folder that the operator trusts by now", func() bool { return isThere(outside) })
}
