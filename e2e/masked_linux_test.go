package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// TestFoldersOfTheSandboxStay: where commands write, all that codex's sandbox keeps from them is
// there, below a repository, too. What is missing it would make and remove itself, by a count that
// patches and commands have each of their own: now and then, a patch failed beside a command that
// ended, and its sender was asked to allow it without the sandbox; and a command beside patches could
// make a .git of its own.
func TestFoldersOfTheSandboxStay(t *testing.T) {
	t.Parallel()
	for name, above := range map[string][]string{
		"alone": nil, "repository": {"init", "-q"}, "worktree": {"init", "-q", "--separate-git-dir=../elsewhere"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, home, root := filepath.Join(t.TempDir(), "above"), codextest.Home(t), t.TempDir() // in no repository
			work := filepath.Join(dir, "work")
			if err := os.MkdirAll(work, 0o755); err != nil {
				t.Fatal(err)
			}
			if above != nil {
				if said, err := exec.Command("git", append([]string{"-C", dir}, above...)...).CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, said)
				}
			}
			writeFile(t, filepath.Join(dir, "AGENTS.md"), "words of above\n")
			writeFile(t, filepath.Join(home, "config.toml"), fmt.Sprintf("[sandbox_workspace_write]\nwritable_roots = [%q]\n", root))
			p := start(t, "CODEX_APPROVAL_POLICY=never", "RUNTIME_WORKDIR="+work, "CODEX_HOME="+home)
			said := text(p.send("m1", "c1", `run echo "$TMPDIR"; sed -n 's/ - \([a-z0-9]*\) .*/ \1/; s/^[^ ]* [^ ]* [^ ]* [^ ]* \([^ ]*[/][.][a-z]* \)/\1/p' /proc/self/mountinfo`))
			temp, mounts, _ := strings.Cut(said, "\n")
			for _, name := range []string{".codex", ".agents", ".aws", ".git"} {
				for _, dir := range []string{work, temp, root} {
					switch mount := mountOn(mounts, filepath.Join(dir, name)); {
					case mount == nil:
						t.Errorf("%s/%s is not kept from commands: %s", dir, name, said)
					case !strings.HasPrefix(mount[1], "ro,"):
						t.Errorf("%s/%s can be written: %s", dir, name, mount)
					case slices.Contains(mount, "tmpfs"):
						t.Errorf("%s/%s was made by codex's sandbox", dir, name)
					}
				}
			}
			if reads := strings.Contains(string(p.Model.Requests()[0].Body), "words of above"); reads != (above != nil) {
				t.Errorf("codex reads the AGENTS.md of the folder above: %v", reads)
			}
			if said := text(p.send("m2", "c2", "run git rev-parse --show-toplevel")); (said == dir) != (above != nil) {
				t.Errorf("git says %s", said)
			}
		})
	}
}

// mountOn is what is mounted on a path, of lines that begin with that.
func mountOn(mounts, path string) (fields []string) {
	for line := range strings.Lines(mounts) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == path {
			fields = f
		}
	}
	return fields
}
