package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextest"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"runtime": main}) }

// TestScripts runs the program as an operator meets it. In the scripts $CODEX
// is the real codex, $OUTSIDE a directory of the script's own outside the temp
// directory, and $PIN the version that codex should have.
func TestScripts(t *testing.T) {
	outside, codex := codextest.Dir(t, "script"), codextest.Bin(t)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			own := filepath.Join(outside, filepath.Base(e.WorkDir))
			e.Setenv("CODEX", codex)
			e.Setenv("PIN", appserver.PinnedVersion())
			e.Setenv("OUTSIDE", own)
			e.Setenv("HOME", own)
			e.Setenv("TMPDIR", e.WorkDir)
			e.Setenv("RUNTIME_ADDR", "127.0.0.1:0")
			return os.MkdirAll(own, 0o700)
		},
	})
}
