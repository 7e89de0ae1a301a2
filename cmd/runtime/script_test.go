package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fence"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"runtime": main})
}

// TestScripts runs the program as an operator meets it. In the scripts $CODEX
// is the real codex, $OUTSIDE a directory of the script's own outside the temp
// directory, $PIN the version that codex should have, and $FREE an address
// without a listener; the condition rootleaves says that the tests run as a root whom codex's
// sandbox does not hold. "await URL" waits until an answer comes from there.
func TestScripts(t *testing.T) {
	outside, bin := codextest.Dir(t, "script"), codextest.Bin(t)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		Condition: func(name string) (bool, error) {
			if name != "rootleaves" {
				return false, fmt.Errorf("no such condition: %s", name)
			}
			return fence.SandboxHole(settings.Settings{Sandbox: "workspace-write"}) != "", nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"await": await},
		Setup: func(e *testscript.Env) error {
			own := filepath.Join(outside, filepath.Base(e.WorkDir))
			e.Setenv("CODEX", bin)
			e.Setenv("PIN", codex.Pinned())
			e.Setenv("OUTSIDE", own)
			e.Setenv("HOME", own)
			e.Setenv("TMPDIR", e.WorkDir)
			e.Setenv("RUNTIME_ADDR", "127.0.0.1:0")
			e.Setenv("HTTPS_PROXY", "http://127.0.0.1:1") // nothing is asked beyond this machine
			e.Setenv("FREE", progtest.FreeAddr(t))
			return os.MkdirAll(filepath.Join(own, "work"), 0o700)
		},
	})
}

func await(ts *testscript.TestScript, _ bool, args []string) {
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		res, err := http.Get(args[0])
		if err == nil {
			_ = res.Body.Close()
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("await %s: %v", args[0], err)
		}
	}
}
