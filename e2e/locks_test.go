package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextest"
)

// opening has a message's command open what codex lives by, which is enough to lock it, and
// returns what could be opened.
func (p *program) opening(id string, metadata object, home string) string {
	p.t.Helper()
	m := message(id, id, "run for f in "+home+"/*.sqlite* "+home+"/auth.json "+home+"/thread-writer-locks/.coordination.lock "+
		`"$TMPDIR"/codex-bwrap-*/lock; do (exec 3<"$f") 2>/dev/null && echo "opened ${f##*/}"; done; echo looked $((40+2))`)
	m["metadata"] = metadata
	answer := text(p.task(p.call("SendMessage", object{"message": m})))
	opened, _, looked := strings.Cut(answer, "looked 42")
	if !looked {
		p.t.Fatalf("%s: %q\n%s", id, answer, p.Log())
	}
	return opened
}

// ownHome is a codex home with a login of its own, and what the operator lets commands write.
func ownHome(t *testing.T, config string) string {
	t.Helper()
	home := codextest.Home(t)
	writeFile(t, filepath.Join(home, "config.toml"), config)
	kept := filepath.Join(codextest.Dir(t, "kept"), "auth.json") // as a mounted secret is
	writeFile(t, kept, "{}")
	if err := os.Symlink(kept, filepath.Join(home, "auth.json")); err != nil {
		t.Fatal(err)
	}
	return home
}

// TestCommandsCannotLockCodex: where nobody is asked, commands in a sandbox cannot open
// codex's databases, locks and login, nor the register of the sandbox's mounts, so they
// cannot hold up all conversations by a lock. What the operator lets them write they write.
func TestCommandsCannotLockCodex(t *testing.T) {
	t.Parallel()
	root := codextest.Dir(t, "root")
	home := ownHome(t, fmt.Sprintf("[sandbox_workspace_write]\nwritable_roots = [%q]\n", root))
	p := start(t, "CODEX_HOME="+home, "CODEX_SANDBOX=workspace-write", "CODEX_APPROVAL_POLICY=never")
	for id, metadata := range map[string]object{"read": {"sandbox": "read-only"}, "write": {}} {
		if opened := p.opening(id, metadata, home); opened != "" {
			t.Errorf("%s: %s", id, opened)
		}
	}
	for _, there := range []string{"*.sqlite-shm", "auth.json", "thread-writer-locks/.coordination.lock"} {
		if found, err := filepath.Glob(filepath.Join(home, there)); err != nil || len(found) == 0 {
			t.Errorf("nothing is there to be locked: %s, %v", there, err)
		}
	}
	// The conversation that has had less has its own again.
	for _, context := range []string{"read", "write"} {
		p.send("then-"+context, context, "run mkdir -p "+context+" && touch "+filepath.Join(root, context)+" && mv \"$TMPDIR\"/codex-bwrap-* \"$TMPDIR\"/moved")
		for _, dir := range []string{p.Work, root} {
			if _, err := os.Stat(filepath.Join(dir, context)); err != nil {
				t.Errorf("%s: the command could not write %s: %v", context, dir, err)
			}
		}
	}
	if got := text(p.send("after", "after", "run cat "+home+"/config.toml")); !strings.Contains(got, "writable_roots") {
		t.Errorf("what else lies in codex's home cannot be read: %q", got)
	}
}

// TestLessThanFullAccessHidesLocks: so it is for a message that has a sandbox where the
// operator has set none, and its conversation has none again after it.
func TestLessThanFullAccessHidesLocks(t *testing.T) {
	t.Parallel()
	home := ownHome(t, "")
	p := start(t, "CODEX_HOME="+home, "CODEX_SANDBOX=danger-full-access", "CODEX_APPROVAL_POLICY=never")
	for _, sandbox := range []string{"read-only", "workspace-write"} {
		if opened := p.opening(sandbox, object{"sandbox": sandbox}, home); opened != "" {
			t.Errorf("%s: %s", sandbox, opened)
		}
		file := filepath.Join(codextest.Dir(t, "outside"), "file")
		if got := text(p.send("again-"+sandbox, sandbox, "run touch "+file+" && cat "+home+"/auth.json && echo $((40+2)) read")); !strings.Contains(got, "42 read") {
			t.Errorf("after %s: %q", sandbox, got)
		}
	}
}

// TestRulesLeadOutOfTheSandbox: an operator's rule goes on letting its command out of the
// sandbox, where nobody is asked, too.
func TestRulesLeadOutOfTheSandbox(t *testing.T) {
	t.Parallel()
	home := codextest.Home(t)
	if err := os.Mkdir(filepath.Join(home, "rules"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(home, "rules", "own.rules"), `prefix_rule(pattern = ["touch"], decision = "allow")`+"\n")
	p := start(t, "CODEX_HOME="+home, "CODEX_SANDBOX=workspace-write", "CODEX_APPROVAL_POLICY=never")
	file := filepath.Join(codextest.Dir(t, "outside"), "file")
	p.send("m1", "one", "run touch "+file)
	if _, err := os.Stat(file); err != nil {
		t.Errorf("the rule's command stays in the sandbox: %v", err)
	}
}
