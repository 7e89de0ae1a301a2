package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/progtest"
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

// TestClosedFolderIsOpenedBeforeALook at whether the program is ready, with no turn in between.
// It looks again soon, for codex does not say its version at first.
func TestClosedFolderIsOpenedBeforeALook(t *testing.T) {
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
