package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// TestLargeGitFile: what a command leaves in the place of a folder's repository does not hold
// up codex for the others.
func TestLargeGitFile(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.send("m1", "c1", "run mkdir -p sub/deep; truncate -s 4G sub/.git")
	codex := p.Codex()
	m := message("m2", "c2", "say hello")
	m["metadata"] = object{"cwd": "sub/deep"}
	task := p.task(p.call("SendMessage", object{"message": m}))
	if said := fmt.Sprint(task["status"]); state(task) != "TASK_STATE_REJECTED" || !strings.Contains(said, "sub/.git is no repository's") {
		t.Errorf("%v", said)
	}
	if now := p.Codex(); now != codex {
		t.Errorf("codex was %d and is %d", codex, now)
	}
}

// TestGitOfCodexTracesNothing: git says what it does to whatever its configuration names, before it looks
// at the number that ends codex's own; where that lies in what commands write, they would have it write
// what they say to any file of the user.
func TestGitOfCodexTracesNothing(t *testing.T) {
	t.Parallel()
	work, user := codextest.Dir(t, "work"), codextest.Dir(t, "user")
	profile := filepath.Join(user, ".profile")
	writeFile(t, profile, "# mine\n")
	writeFile(t, filepath.Join(work, "gitconfig"), "")
	if err := os.Symlink(filepath.Join(work, "gitconfig"), filepath.Join(user, ".gitconfig")); err != nil {
		t.Fatal(err)
	}
	p := start(t, "HOME="+user, "RUNTIME_WORKDIR="+work, "CODEX_APPROVAL_POLICY=never")
	if said := text(p.send("m1", "one", "run printf '[trace2]\\neventTarget = "+profile+"\\nnormalTarget = "+profile+"\\nconfigParams = *\\n[x]\\ny = z\\n' >gitconfig && echo written")); !strings.HasSuffix(said, "written") {
		t.Fatalf("the command says %q", said)
	}
	p.send("m2", "two", "say hello")
	if got := contents(t, profile); got != "# mine\n" {
		t.Errorf("the user's file has %q", got)
	}
}
