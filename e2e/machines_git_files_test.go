package e2e

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// handed are the files that come with a reply, by their names.
func handed(task object) map[string]string {
	all := map[string]string{}
	for _, part := range replyParts(task)[1:] {
		raw, _ := base64.StdEncoding.DecodeString(fmt.Sprint(at(part, "raw")))
		all[fmt.Sprint(at(part, "filename"))] = string(raw)
	}
	return all
}

// TestMachineWithGitReply: the files that a reply names come with it from the machine: by their paths there, below the folder or
// in a link, but no secret, none that a link leads out to, none that is too large, and none in a code span that is older than
// the task.
func TestMachineWithGitReply(t *testing.T) {
	t.Parallel()
	p, _ := startWithGit(t, "m1")
	first := p.send("1", "one", "run mkdir sub; printf one > small.md; printf two > sub/b.txt; touch -d 2000-01-01 old.txt; "+
		"ln -s /etc/passwd link.txt; printf secret > .auth_token; truncate -s 26M big.bin")
	dir := fmt.Sprint(at(first, "metadata", "cwd"))
	said := fmt.Sprintf("I wrote %[1]s/small.md:1, [b](sub/b.txt), %[1]s/link.txt, %[1]s/.auth_token, %[1]s/big.bin, %[1]s/gone.txt, "+
		"%[1]s/../../x, /etc/passwd, `old.txt` and `new.txt`", dir)
	task := p.send("2", "one", "run printf new > new.txt\nsay "+said)
	if got := handed(task); len(got) != 3 || got["small.md"] != "one" || got["b.txt"] != "two" || got["new.txt"] != "new" {
		t.Errorf("%v: %q", task["status"], got)
	}
	if left, err := os.ReadDir(filepath.Join(p.State, "brought")); err != nil || len(left) != 0 {
		t.Errorf("there is left %v, %v", left, err)
	}
}

// TestMachineWithGitReplyDrained: a machine that drains stays until the files of its last reply were read.
func TestMachineWithGitReplyDrained(t *testing.T) {
	t.Parallel()
	p, machines := startWithGit(t, "m1")
	dir := fmt.Sprint(at(p.send("1", "one", "run true"), "metadata", "cwd"))
	id := p.begin("2", "one", "run touch begun; while [ ! -e go ]; do sleep 0.02; done; printf new > new.txt\nsay I wrote "+dir+"/new.txt")["id"]
	progtest.WaitFor(t, "the command to begin", func() bool { _, err := os.Stat(filepath.Join(dir, "begun")); return err == nil })
	machines["m1"].Signal(syscall.SIGTERM)
	progtest.WaitFor(t, "the machine to drain", func() bool { return p.machineList()["m1"].Draining })
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if task := p.ended(id); handed(task)["new.txt"] != "new" {
		t.Errorf("%v: %q", task["status"], handed(task))
	}
	<-machines["m1"].Exited()
}

// TestMachineWithGitSteered: the file of a message that is added to a running turn is brought to the machine of that turn.
func TestMachineWithGitSteered(t *testing.T) {
	t.Parallel()
	p, _ := startWithGit(t, "m1")
	dir := fmt.Sprint(at(p.send("1", "one", "run true"), "metadata", "cwd"))
	id := p.begin("2", "one", "run touch begun; while [ ! -e go ]; do sleep 0.02; done")["id"]
	progtest.WaitFor(t, "the command to begin", func() bool { _, err := os.Stat(filepath.Join(dir, "begun")); return err == nil })
	m := message("3", "one", "run cat .attachments/*note.txt")
	m["taskId"] = id
	m["parts"] = append(m["parts"].([]object), object{"raw": "aGVsbG8=", "filename": "note.txt", "mediaType": "text/plain"})
	p.call("SendMessage", object{"message": m, "configuration": object{"returnImmediately": true}})
	progtest.WaitFor(t, "the file to be there", func() bool {
		found, err := filepath.Glob(filepath.Join(dir, ".attachments", "*note.txt"))
		return err == nil && len(found) == 1
	})
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if task := p.ended(id); text(task) != "hello" {
		t.Errorf("%v: %q", task["status"], text(task))
	}
	if asked := p.askedWith("Attached files"); !strings.Contains(asked, "at "+dir+"/.attachments/") {
		t.Errorf("the model reads %s", asked)
	}
}
