package store

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// killed is a state of the schema before ours that this program has upgraded and worked
// with, and was killed: the log lies beside it.
func killed(t *testing.T) (dir string, u upgrade, copied string) {
	t.Helper()
	dir, u, copied = from(t)
	c := startChild(t, "accepts", dir)
	c.line()
	c.kill()
	log, err := os.Stat(u.path + "-wal")
	must(t, err)
	if log.Size() == 0 {
		t.Fatal("the log is empty")
	}
	return dir, u, copied
}

// TestLogOfAnother: the copy that was put back is not opened while the newer one's log lies
// beside it, by doctor neither, and nothing is changed.
func TestLogOfAnother(t *testing.T) {
	dir, u, copied := killed(t)
	must(t, os.Rename(copied, u.path))
	had := map[string][]byte{}
	for _, path := range []string{u.path, u.path + "-wal"} {
		text, err := os.ReadFile(path)
		must(t, err)
		had[path] = text
	}
	_, opened := Open(t.Context(), Config{Dir: dir})
	_, inspected := Inspect(dir)
	for what, err := range map[string]error{"opened": opened, "inspected": inspected, "old program": ensure(before(u))} {
		if err == nil || !strings.Contains(err.Error(), "remove "+u.path+"-wal, or put back") {
			t.Errorf("%s: %v", what, err)
		}
	}
	for path, text := range had {
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, text) {
			t.Errorf("%s was changed: %v", path, err)
		}
	}
	must(t, os.Remove(u.path+"-wal"))
	hasTask(t, before(u))
	hasTask(t, u) // it has a log of its own, meanwhile
}

// TestOwnLog of a program that was killed is no other's, and neither is what is left of one
// that has just been put back.
func TestOwnLog(t *testing.T) {
	dir, u, copied := killed(t)
	closeStore(t, open(t, Config{Dir: dir}))
	must(t, errors.Join(os.Rename(copied, u.path), os.WriteFile(u.path+"-wal", nil, 0o600), ensure(before(u))))
	hasTask(t, before(u))
	c := startChild(t, "accepts", dir)
	c.line()
	c.kill()
	closeStore(t, open(t, Config{Dir: dir}))
}

// TestWayBack does what docs/operations.md says, after a kill.
func TestWayBack(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "operations.md"))
	must(t, err)
	found := regexp.MustCompile("(?s)<!-- tested: back -->\n```sh\n(.*?)```").FindSubmatch(page)
	if found == nil {
		t.Fatal("the page has no commands for it")
	}
	dir, u, copied := killed(t)
	commands := strings.NewReplacer("/configs/.runtime", dir, "state.db.v10.bak", filepath.Base(copied)).Replace(string(found[1]))
	if said, err := exec.CommandContext(t.Context(), "sh", "-euc", commands).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	hasTask(t, before(u))
	equal(t, modes(t, dir)["state.db"], 0o600)
	must(t, ensure(u))
	hasTask(t, u)
}
