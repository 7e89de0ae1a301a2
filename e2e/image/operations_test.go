package image

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/progtest"
)

// fromFile is what a file of the clone says between two words.
func fromFile(t *testing.T, name, pattern string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(codextest.Root(t), name))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(pattern).FindSubmatch(text)
	if found == nil {
		t.Fatalf("%s has nothing like %s", name, pattern)
	}
	return string(found[1])
}

// asCompose is a container as deploy/compose.yaml describes it.
func asCompose(t *testing.T, configs string) spec {
	t.Helper()
	var may []string
	for _, name := range strings.Split(fromFile(t, "deploy/compose.yaml", `cap_add: \[(.*)\]`), ", ") {
		may = append(may, "+"+strings.ToLower(name))
	}
	return spec{
		tier: 1, user: "root", configs: configs, workspace: volume(t, "workspace", 0), may: strings.Join(may, ","),
		env: append([]string{"CODEX_SANDBOX=danger-full-access", "CODEX_APPROVAL_POLICY=never"}, standalone...),
	}
}

// TestCompose has no more rights than deploy/compose.yaml leaves it: it starts, is well,
// and ends when it is told to, after which nothing of root's is left in it.
func TestCompose(t *testing.T) {
	im := open(t)
	c := im.run(t, asCompose(t, volume(t, "configs", 0)))
	c.listens()
	if out, err := c.enter("1000", "runtime", "doctor").CombinedOutput(); err != nil {
		t.Errorf("doctor: %v\n%s", err, out)
	}
	for _, pid := range progtest.Descendants(c.cmd.Process.Pid) {
		if uid := ownerOf(t, fmt.Sprintf("/proc/%d", pid)); uid != 1000 {
			t.Errorf("process %d is %d's", pid, uid)
		}
	}
	if code := c.stop(); code != 0 {
		t.Errorf("SIGTERM: exit code %d", code)
	}
}

// TestBackup saves a container that runs, and restores it into an empty volume, by the
// commands of docs/operations.md.
func TestBackup(t *testing.T) {
	im := open(t)
	s := asCompose(t, volume(t, "configs", 0))
	c := im.run(t, s)
	c.listens()
	c.ask("kept", "remember the word is quince")
	script, err := os.Open(filepath.Join(codextest.Root(t), "deploy", "backup.sh"))
	if err != nil {
		t.Fatal(err)
	}
	defer script.Close()
	inside := strings.Fields(fromFile(t, "docs/operations.md", `exec -T -u agent workspace (sh -s .*?) <deploy/backup.sh`))
	var archive, complaints bytes.Buffer
	backup := c.enter("1000", inside[0], inside[1:]...)
	backup.Stdin, backup.Stdout, backup.Stderr = script, &archive, &complaints
	if err := backup.Run(); err != nil {
		t.Fatalf("the backup: %v\n%s", err, complaints.String())
	}
	if out, err := c.exec("runtime", "task", "list"); err != nil {
		t.Errorf("after the backup: %v\n%s", err, out)
	}
	c.kill()

	s.configs = volume(t, "restored", 0)
	restore := s
	restore.bare = true
	restore.args = append([]string{"tar"}, strings.Fields(fromFile(t, "docs/operations.md", `--entrypoint tar workspace (-xzf .*?) <backup`))...)
	restore.stdin = &archive
	if code := im.run(t, restore).ended(); code != 0 {
		t.Fatalf("the restore: exit code %d", code)
	}
	c = im.run(t, s)
	c.listens()
	if said := c.ask("kept", "recall"); !strings.Contains(said, "quince") {
		t.Errorf("after the restore: %s", said)
	}
}
