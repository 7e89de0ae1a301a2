package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFoldersOfTheSandboxStay: where commands write, all that codex's sandbox keeps from them is
// there. What is missing it would make and remove itself, by a count that patches and commands
// have each of their own: now and then, a patch failed beside a command that ended, and its sender
// was asked to allow it without the sandbox.
func TestFoldersOfTheSandboxStay(t *testing.T) {
	t.Parallel()
	work := t.TempDir() // in no repository: there it has no .git
	p := start(t, "CODEX_APPROVAL_POLICY=never", "RUNTIME_WORKDIR="+work)
	said := text(p.send("m1", "c1", `run echo "$TMPDIR"; grep -F -e "$PWD/" -e "$TMPDIR/" /proc/self/mountinfo`))
	temp, mounts, _ := strings.Cut(said, "\n")
	for _, name := range []string{".codex", ".agents", ".aws", ".git"} {
		for _, dir := range []string{work, temp} {
			switch mount := mountOn(mounts, filepath.Join(dir, name)); {
			case mount == nil:
				t.Errorf("%s/%s is not kept from commands: %s", dir, name, said)
			case !strings.HasPrefix(mount[5], "ro,"):
				t.Errorf("%s/%s can be written: %s", dir, name, mount)
			case slices.Contains(mount, "tmpfs"):
				t.Errorf("%s/%s was made by codex's sandbox", dir, name)
			}
		}
	}
}

// mountOn are the fields of what is mounted on a path.
func mountOn(mounts, path string) (fields []string) {
	for line := range strings.Lines(mounts) {
		if f := strings.Fields(line); len(f) > 5 && f[4] == path {
			fields = f
		}
	}
	return fields
}
