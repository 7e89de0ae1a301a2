package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextest"
)

// TestBranchBringsNothing: a branch that is checked out while codex runs settles no more than one
// that was there when it was started, in new conversations and in those that go on.
func TestBranchBringsNothing(t *testing.T) {
	t.Parallel()
	work, outside := codextest.Dir(t, "work"), codextest.Dir(t, "outside")
	git := func(args ...string) {
		t.Helper()
		who := []string{"-C", work, "-c", "user.name=one", "-c", "user.email=one@example.com"}
		if said, err := exec.Command("git", append(who, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v, %s", args, err, said)
		}
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "first")
	git("checkout", "-q", "-b", "theirs")
	if err := os.MkdirAll(filepath.Join(work, ".codex", "rules"), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(work, ".codex", "config.toml"), fmt.Sprintf("[mcp_servers.x]\ncommand = \"touch\"\nargs = [%q]\n", filepath.Join(outside, "server")))
	writeFile(t, filepath.Join(work, ".codex", "rules", "x.rules"), `prefix_rule(pattern=["touch"], decision="allow")`+"\n")
	git("add", "-A")
	git("commit", "-q", "-m", "second")
	git("checkout", "-q", "-")
	p := start(t, "RUNTIME_WORKDIR="+work, "CODEX_APPROVAL_POLICY=never", "RUNTIME_MAX_THREADS=1")
	p.send("m1", "old", "say hello")
	git("checkout", "-q", "theirs")
	for _, context := range []string{"new", "old"} { // the old one is let go for the new one
		if got := text(p.send("m2-"+context, context, "run touch "+filepath.Join(outside, context))); !strings.Contains(got, "Read-only file system") {
			t.Errorf("the %s conversation says %q", context, got)
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("outside there are %v, %v", left, err)
	}
	if !strings.Contains(p.Log(), "what a folder brings does not settle what codex may do") {
		t.Error("the log has no word of it")
	}
}
