package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestClosedFoldersAreOpenedAgain has commands close the folders that all others need: the
// working directory, the temp directory, and what is below that when the program ends.
func TestClosedFoldersAreOpenedAgain(t *testing.T) {
	for name, begin := range map[string]func(*testing.T) (*program, int){"root": asRoot, "user": asOneUser} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if os.Getuid() != 0 && name != "user" {
				t.Skip("this takes root")
			}
			p, _ := begin(t)
			for _, folder := range []string{".", "$TMPDIR"} {
				if said := text(p.send("c"+folder, "c1", "run chmod 000 "+folder+" && echo is $((40+1)) closed")); !strings.Contains(said, "is 41 closed") {
					t.Fatalf("%s is not closed: %s", folder, said)
				}
				if said := text(p.send("m"+folder, "c2", "run echo words >"+folder+"/file; cat "+folder+"/file; echo is $((40+2)) open")); !strings.Contains(said, "words\nis 42 open") {
					t.Errorf("after %s was closed a command says %s", folder, said)
				}
				if info, err := os.Stat(p.Work); err != nil || info.Mode().Perm()&0o700 != 0o700 {
					t.Errorf("the working directory is %v, %v", info.Mode(), err)
				}
			}
			if said := text(p.send("m3", "c3", "run mkdir -p $TMPDIR/a/b && chmod 000 $TMPDIR/a && echo is $((40+3)) left")); !strings.Contains(said, "is 43 left") {
				t.Fatalf("the command says %s", said)
			}
			p.Kill()
			again := &program{Program: p.Restart(), Model: p.Model, t: t}
			if said := text(again.send("m4", "c4", "run test -e $TMPDIR/a || echo is $((40+4)) gone")); !strings.Contains(said, "is 44 gone") {
				t.Errorf("after a kill a command says %s", said)
			}
		})
	}
}

// TestClosedFolderIsOpenedBeforeCodexStarts: what codex is told of the working directory at its start
// holds for as long as it lives, and is not that nothing is known of it.
func TestClosedFolderIsOpenedBeforeCodexStarts(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	for _, level := range []string{"", "trust_level = 'trusted'"} {
		p, _ := asOneUser(t)
		for path, text := range map[string]string{
			filepath.Join(p.Work, "AGENTS.md"):   "words of AGENTS.md\n",
			filepath.Join(p.Home, "config.toml"): "[projects.'" + p.Work + "']\n" + level + "\n",
		} {
			writeFile(t, path, text)
			if err := os.Chmod(path, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		p.again()
		reads := func(context string) {
			t.Helper()
			p.send("m-"+context, context, "say "+context)
			all := p.Model.Requests()
			if !strings.Contains(string(all[len(all)-1].Body), "words of AGENTS.md") || strings.Contains(p.Log(), "doubtful configuration") {
				t.Errorf("%q, %s: AGENTS.md is not read, or codex's configuration is doubted", level, context)
			}
		}
		reads("first")
		var codex int
		_, said, _ := strings.Cut(p.Log(), `"codex is ready","pid":`)
		_, err := fmt.Sscan(strings.SplitN(said, ",", 2)[0], &codex)
		if err := errors.Join(err, os.Chmod(p.Work, 0), syscall.Kill(codex, syscall.SIGKILL)); err != nil { // as a command can leave it
			t.Fatal(err)
		}
		progtest.WaitFor(t, "codex to be started again", func() bool { return strings.Count(p.Log(), `"codex is ready"`) > 1 })
		reads("second")
	}
}

// TestClosedFolderIsOpenedBeforeALook at whether the program is ready, with no turn in between.
// It looks again soon, for codex does not say its version at first.
func TestClosedFolderIsOpenedBeforeALook(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	dir := codextest.Dir(t, "bin")
	codex, silent := filepath.Join(dir, "codex"), filepath.Join(dir, "silent")
	writeFile(t, silent, "")
	writeFile(t, codex, fmt.Sprintf("#!/bin/sh\n[ \"$1\" = --version ] && [ -e %s ] && exit 1\nexec %s \"$@\"\n", silent, codextest.Bin(t)))
	if err := os.Chmod(codex, 0o700); err != nil {
		t.Fatal(err)
	}
	p := start(t, "CODEX_BIN="+codex)
	if code, page := p.fetch("/readyz"); code != http.StatusServiceUnavailable {
		t.Fatalf("ready: %d %s", code, page)
	}
	if said := text(p.send("m1", "c1", "run chmod 000 . && echo is $((40+1)) closed")); !strings.Contains(said, "is 41 closed") {
		t.Fatalf("the folder is not closed: %s", said)
	}
	if info, err := os.Stat(p.Work); err != nil || info.Mode().Perm() != 0 {
		t.Fatalf("before the look the working directory is %v, %v", info.Mode(), err)
	}
	if err := os.Remove(silent); err != nil {
		t.Fatal(err)
	}
	progtest.WaitFor(t, "readiness", func() bool { code, _ := p.fetch("/readyz"); return code == http.StatusOK })
	if info, err := os.Stat(p.Work); err != nil || info.Mode().Perm()&0o700 != 0o700 {
		t.Errorf("the working directory is %v, %v", info.Mode(), err)
	}
}
