package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestMountsDoNotArriveInTheSandbox: a command that goes on after its turn writes nothing
// outside of the working directory that is mounted meanwhile, on a machine whose mounts are
// shared, as those of systemd are.
func TestMountsDoNotArriveInTheSandbox(t *testing.T) {
	longtest.Mark(t)
	for name, begin := range map[string]func(*testing.T) *program{
		"root": func(t *testing.T) *program { return start(t) },
		"user": func(t *testing.T) *program { p, _ := asOneUser(t); return p },
		"root, and codex as another": func(t *testing.T) *program {
			home, work, state := foldersOf(t, commandUser, os.Getuid())
			p := start(t, fmt.Sprintf("CODEX_USER=%d:%[1]d", commandUser), "CODEX_HOME="+home, "RUNTIME_WORKDIR="+work, "RUNTIME_STATE_DIR="+state, "HOME="+codextest.Dir(t, "user"))
			p.Home, p.Work, p.State = home, work, state
			return p
		},
	} {
		t.Run(name, func(t *testing.T) {
			codextest.SharedMounts(t)
			mounted := codextest.Dir(t, "mounted")
			p := begin(t)
			afterMount(t, p, mounted)
			if left, err := os.ReadDir(mounted); err != nil || len(left) > 0 {
				t.Errorf("the command has written on what was mounted after it began: %v, %v", left, err)
			}
		})
	}
}

// TestMountsThatArriveAreWarnedOf: where codex cannot have mounts of its own, it runs as
// before, and the log says so.
func TestMountsThatArriveAreWarnedOf(t *testing.T) {
	codextest.SharedMounts(t)
	p := startAsTwo(t, "CODEX_SANDBOX=workspace-write", "HOME="+codextest.Dir(t, "user"))
	afterMount(t, p, codextest.Dir(t, "mounted"))
	if log := p.Log(); !strings.Contains(log, "is mounted on this machine while a command of codex's runs") {
		t.Error("the log does not say that mounts arrive in codex's sandbox")
	}
}

// afterMount has a command go on after its turn, mounts something that all may write, and
// waits until the command has tried to.
func afterMount(t *testing.T, p *program, mounted string) {
	t.Helper()
	rounds := filepath.Join(p.Work, "rounds")
	p.send("m1", "c1", "background while sleep 0.1; do touch "+mounted+"/written; echo round >>"+rounds+"; done")
	if err := unix.Mount("tmpfs", mounted, "tmpfs", 0, "mode=0777"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(mounted, unix.MNT_DETACH) })
	before := roundsIn(rounds)
	progtest.WaitFor(t, "the command to go on", func() bool { return roundsIn(rounds) > before+2 })
}

func roundsIn(file string) int {
	text, _ := os.ReadFile(file) // not there before the first one
	return strings.Count(string(text), "round")
}
