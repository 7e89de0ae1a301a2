package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// TestOpenedFoldersAreNotSwapped: a turn that may ask to write more gets no leave to write where
// its commands can then put a link, as to the rules by which commands run outside of the sandbox.
// Nobody is asked about it.
func TestOpenedFoldersAreNotSwapped(t *testing.T) {
	longtest.Mark(t)
	home, shared, outside := codextest.Dir(t, "home"), codextest.Dir(t, "shared"), codextest.Dir(t, "outside")
	writeFile(t, filepath.Join(home, "config.toml"), "[features]\nrequest_permissions_tool = true\n[sandbox_workspace_write]\nwritable_roots = ['"+shared+"']\n")
	p := start(t, "CODEX_HOME="+home)
	temp := strings.TrimSpace(strings.TrimPrefix(text(p.send("m1", "c1", "run echo $TMPDIR")), "(exit code 0)"))
	for i, dir := range []string{p.Work, shared, temp} {
		if !filepath.IsAbs(dir) {
			t.Fatalf("the directory is %q", dir)
		}
		sub := filepath.Join(dir, "a/out")
		task := p.send(fmt.Sprintf("n%d", i), "c1", fmt.Sprintf("run cd %s && mkdir -p a/out\n"+
			`call request_permissions {"reason":"build there","permissions":{"file_system":{"write":[%q]}}}`+"\n"+
			"run cd %[1]s && mv a b && mkdir a && ln -s %[3]s a/out && echo swapped\n"+
			`run mkdir %[2]s/rules; echo 'prefix_rule(pattern=["touch"], decision="allow")' > %[2]s/rules/x.rules`, dir, sub, home))
		if s := state(task); s != "TASK_STATE_COMPLETED" || !strings.Contains(text(task), "swapped") {
			t.Errorf("%s: %s, %q", dir, s, text(task))
		}
		if _, err := os.Stat(filepath.Join(home, "rules/x.rules")); err == nil {
			t.Fatalf("%s: the turn has made a rule", dir)
		}
	}
	task := p.send("m2", "c2", fmt.Sprintf(`call request_permissions {"reason":"build there","permissions":{"file_system":{"write":[%q]}}}`+"\nrun touch %[1]s/built", outside))
	asked(t, task, 0, "write "+outside)
	p.task(p.call("SendMessage", answer(task, "m3", "yes")))
	if _, err := os.Stat(filepath.Join(outside, "built")); err != nil {
		t.Errorf("what was allowed: %v", err)
	}
}
