package e2e

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// TestSandboxIsInForce has a command write outside the working directory: what the
// setting says is what codex does, whether its sandbox starts on this machine or not.
func TestSandboxIsInForce(t *testing.T) {
	t.Parallel()
	for mode, written := range map[string]bool{"danger-full-access": true, "workspace-write": false, "read-only": false} {
		t.Run(mode, func(t *testing.T) {
			p := start(t, "CODEX_SANDBOX="+mode, "CODEX_APPROVAL_POLICY=never")
			file := filepath.Join(codextest.Dir(t, "outside"), "file")
			p.send("m1", "c", "run touch "+file)
			if _, err := os.Stat(file); (err == nil) != written {
				t.Errorf("the file: %v, want it to be there: %t", err, written)
			}
		})
	}
}

// TestNoNetworkInTheSandbox: a command gets to the port of this program where it has no sandbox,
// and nowhere else.
func TestNoNetworkInTheSandbox(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	for mode, reached := range map[string]bool{"danger-full-access": true, "workspace-write": false, "read-only": false} {
		t.Run(mode, func(t *testing.T) {
			p := start(t, "CODEX_SANDBOX="+mode, "CODEX_APPROVAL_POLICY=never")
			_, port, _ := strings.Cut(strings.TrimPrefix(p.URL, "http://"), ":")
			said := text(p.send("m1", "c", "run bash -c '(exec 3<>/dev/tcp/127.0.0.1/"+port+") && echo is $((40+2)) in; echo is $((40+3)) done'"))
			if !strings.Contains(said, "is 43 done") || strings.Contains(said, "is 42 in") != reached {
				t.Errorf("want that it is reached: %v, a command says %s", reached, said)
			}
		})
	}
}

// TestTempOfCommands: commands have a temp directory of their own, and write that of all
// users as little as anything else outside of the working directory.
func TestTempOfCommands(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	p := start(t, "CODEX_APPROVAL_POLICY=never")
	name := filepath.Base(codextest.Dir(t, "temp"))
	answer := text(p.send("m1", "c", "run exec 2>/dev/null; touch /tmp/"+name+"; touch /var/tmp/"+name+"; touch \"$TMPDIR\"/"+name+" && echo \"in $TMPDIR\""))
	_, dir, found := strings.Cut(strings.TrimSpace(answer), "in ")
	if !found || !strings.HasPrefix(filepath.Base(filepath.Dir(dir)), "molecule-codex-") {
		t.Fatalf("the command says %q", answer)
	}
	for _, shared := range []string{"/tmp", "/var/tmp", os.TempDir()} {
		if _, err := os.Lstat(filepath.Join(shared, name)); err == nil {
			t.Errorf("a command has written into %s", shared)
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%s: %v, %v", dir, info, err)
	}
	p.Stop()
	if _, err := os.Lstat(filepath.Dir(dir)); err == nil {
		t.Errorf("%s is left", filepath.Dir(dir))
	}
}

// TestFolderOfAMessageIsNoRoot: while a turn waits for an answer, a command of another
// conversation puts a symlink to the outside in the place of the folder that the turn was
// given, by the metadata of a message or by the bridge.
func TestFolderOfAMessageIsNoRoot(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	p := start(t)
	b := p.bridge()
	const words = "run touch before\nescalate true\nrun touch here"
	for door, turn := range map[string]func(folder string) (answer func()){
		"metadata": func(folder string) func() {
			m := message("m1", "asks", words)
			m["metadata"] = object{"cwd": folder}
			task := p.task(p.call("SendMessage", object{"message": m}))
			asked(t, task, 0, "true")
			return func() { p.call("SendMessage", answer(task, "a1", "no")) }
		},
		"bridge": func(folder string) func() {
			id := b.start(words, object{"cwd": folder, "sandbox": "workspace-write", "approval_policy": "on-request"})
			b.until(id, "waiting_for_approval")
			// The bridge's respond names the folder again, and is refused by now.
			task, _ := at(p.call("ListTasks", object{"status": "TASK_STATE_INPUT_REQUIRED"}), "result", "tasks", 0).(object)
			return func() {
				p.call("SendMessage", answer(task, "a2", "no"))
				b.until(id, "completed")
			}
		},
	} {
		folder, outside := filepath.Join(p.Work, door), codextest.Dir(t, "outside")
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		answer := turn(door)
		if got := text(p.send("swap-"+door, "swaps", "run mv "+door+" kept-"+door+" && ln -s "+outside+" "+door+" && echo swapped")); !strings.Contains(got, "swapped") {
			t.Fatalf("%s: %q", door, got)
		}
		answer()
		if _, err := os.Stat(filepath.Join(p.Work, "kept-"+door, "before")); err != nil {
			t.Errorf("%s: the turn did not work in its folder: %v", door, err)
		}
		if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
			t.Errorf("%s: a command has written outside of the sandbox: %v, %v", door, left, err)
		}
	}
}

// TestSetuidFiles: codex's sandbox lets commands make files that run as their owner, and open the
// working directory to others, which docs/security.md says, and the check setuid is for.
func TestSetuidFiles(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("there is no such check")
	}
	p := start(t, "CODEX_SANDBOX=workspace-write", "CODEX_APPROVAL_POLICY=never")
	p.send("m1", "c", "run touch file && chmod 4755 file && chmod 701 .")
	if info, err := os.Stat(filepath.Join(p.Work, "file")); err != nil || info.Mode()&os.ModeSetuid == 0 {
		t.Errorf("%v, %v: is it barred now?", info, err)
	}
	if info, err := os.Stat(p.Work); err != nil || info.Mode().Perm() != 0o701 {
		t.Errorf("%v, %v: does its mode count now?", info, err)
	}
	if out, _ := p.Command("doctor", "--json"); !strings.Contains(out, `"setuid"`) {
		t.Errorf("doctor does not look: %s", out)
	}
}
