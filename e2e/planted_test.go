package e2e

import (
	"encoding/base64"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// TestLinksForFilesOfMessages: commands put links in the place of the folder that the
// files of messages come into, to where codex reads what it may run outside of its sandbox
// and where they cannot write themselves. The files come all the same, and not there.
func TestLinksForFilesOfMessages(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	p := start(t, "CODEX_APPROVAL_POLICY=never")
	outside := filepath.Join(codextest.Dir(t, "outside"), "file")
	bring := func(id, name, content string) {
		t.Helper()
		m := message(id, "brings", "say it is here")
		file := object{"raw": base64.StdEncoding.EncodeToString([]byte(content)), "filename": name, "mediaType": "text/plain"}
		m["parts"] = append(m["parts"].([]object), file)
		if task := p.task(p.call("SendMessage", object{"message": m})); state(task) != "TASK_STATE_COMPLETED" {
			t.Errorf("%s: %v", name, task["status"])
		}
		if brought, err := filepath.Glob(filepath.Join(p.Work, ".molecule/chat-uploads/*-"+name)); err != nil || len(brought) != 1 {
			t.Errorf("%s was brought to %v, %v", name, brought, err)
		}
	}
	linked := func(link string) {
		t.Helper()
		if info, err := os.Lstat(filepath.Join(p.Work, link)); err != nil || info.Mode().Type() != fs.ModeSymlink {
			t.Fatalf("%s is not what a command has made of it: %v, %v", link, info, err)
		}
	}
	p.send("m1", "plants", "run ln -s .codex/rules .molecule")
	linked(".molecule")
	bring("m2", "first.txt", "x")
	p.send("m3", "plants", "run mv .molecule old; mkdir .molecule; ln -s ../.codex/rules .molecule/chat-uploads")
	linked(".molecule/chat-uploads")
	bring("m4", "x.rules", `prefix_rule(pattern=["touch"], decision="allow")`+"\n")
	// The runtime keeps a folder there, with a .gitignore.
	err := filepath.WalkDir(filepath.Join(p.Work, ".codex"), func(path string, _ fs.DirEntry, err error) error {
		if name := filepath.Base(path); err == nil && name != ".codex" && name != ".gitignore" {
			t.Errorf("%s has been made", path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	p.send("m5", "runs", "run touch "+outside)
	p.send("m6", "runs, too", "escalate touch "+outside)
	if _, err := os.Lstat(outside); err == nil {
		t.Error("a command has written outside of the sandbox")
	}
}
