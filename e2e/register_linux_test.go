package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
)

// TestRegisterIsKeptFromPatches: codex's sandbox counts who needs its mounts in the temp directory of
// commands, which patches write, and in which a command without a sandbox can have put what it
// likes. A patch does not change the count, and commands start.
func TestRegisterIsKeptFromPatches(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"workspace-write", "danger-full-access"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			p := start(t, "CODEX_SANDBOX="+mode, "CODEX_APPROVAL_POLICY=never")
			turn := 0
			say := func(words string) string {
				turn++
				return text(p.sendIn("workspace-write", fmt.Sprint("m", turn), words))
			}
			patch := func(text string) string {
				cmd, _ := json.Marshal(object{"cmd": fakemodel.PatchCommand(text)})
				return say("call exec_command " + string(cmd))
			}
			temp := say(`run printf %s "$TMPDIR"`)
			register := filepath.Join(temp, fmt.Sprintf("codex-bwrap-synthetic-mount-targets-%d", os.Getuid()))
			lock := filepath.Join(register, "lock")
			if info, err := os.Lstat(lock); err != nil || !info.Mode().IsRegular() {
				t.Fatalf("the register is not there: %v, %v", info, err)
			}
			say("run ln -s " + register + " $TMPDIR/link")
			for _, file := range []string{lock, filepath.Join(temp, "link/lock"), filepath.Join(temp, "../guard/.git")} {
				if said := patch("*** Begin Patch\n*** Delete File: " + file + "\n*** End Patch\n"); strings.Contains(said, "Success") {
					t.Errorf("a patch has deleted %s: %s", file, said)
				}
			}
			for _, file := range []string{filepath.Join(register, "0123456789abcdef/1"), filepath.Join(temp, "link/2")} {
				if said := patch(fakemodel.AddFile(file, "x\n")); strings.Contains(said, "Success") {
					t.Errorf("a patch has made %s: %s", file, said)
				}
			}
			if said := patch(fakemodel.AddFile(filepath.Join(temp, "of-a-patch"), "x\n")); !strings.Contains(said, "Success") {
				t.Errorf("beside the register a patch says %s", said)
			}
			for _, broken := range []string{lock, register} {
				if err := os.RemoveAll(broken); err != nil {
					t.Fatal(err)
				}
				if broken == register {
					writeFile(t, register, "")
				} else if err := os.Mkdir(lock, 0o700); err != nil {
					t.Fatal(err)
				}
				if said := say("run echo starts"); said != "starts" {
					t.Errorf("after %s was broken a command says %s", broken, said)
				}
			}
		})
	}
}
