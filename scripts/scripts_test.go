// Package scripts has tests alone: those of the scripts that ask or tell others, who are played
// by programs in PATH.
package scripts

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// TestScripts: in a script $ROOT is the repository, and the folder bin, with all in it made
// executable by "chmod", stands first in PATH.
func TestScripts(t *testing.T) {
	read(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("ROOT", codextest.Root(t))
			e.Setenv("TMPDIR", e.WorkDir)
			e.Setenv("PATH", filepath.Join(e.WorkDir, "bin")+string(filepath.ListSeparator)+e.Getenv("PATH"))
			return nil
		},
	})
}

// read has go test know of which scripts a result is: it sees what the test reads, and not what
// it starts.
func read(t *testing.T) {
	t.Helper()
	scripts, err := filepath.Glob("*.sh")
	for _, name := range scripts {
		if _, err := os.ReadFile(name); err != nil {
			t.Error(err)
		}
	}
	if err != nil || len(scripts) == 0 {
		t.Errorf("the scripts: %q, %v", scripts, err)
	}
}
