package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// fromPage is the command that docs/operations.md gives under a mark, with its words
// replaced.
func fromPage(t *testing.T, mark string, words ...string) *exec.Cmd {
	t.Helper()
	return fromPageOf(t, "docs/operations.md", mark, words...)
}

// fromPageOf is the command that a page gives under a mark, with its words replaced.
func fromPageOf(t *testing.T, page, mark string, words ...string) *exec.Cmd {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(codextest.Root(t), page))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)<!-- tested: " + mark + " -->\n```sh\n(.*?)```").FindSubmatch(text)
	if found == nil {
		t.Fatalf("%s has no command %s", page, mark)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-euc", strings.NewReplacer(words...).Replace(string(found[1])))
	cmd.Dir = codextest.Root(t)
	return cmd
}

func mustRun(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	t.Logf("%s%s", cmd.Args[2], said.String())
}

// tarThatLooks is a folder with a tar that fails if one of the processes is not stopped.
func tarThatLooks(t *testing.T, pids []int) string {
	t.Helper()
	tar, err := exec.LookPath("tar")
	if err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\n[ \"$1\" != --version ] || exec " + tar + " --version\n"
	for _, pid := range pids {
		script += fmt.Sprintf("if grep '^State:.*[RSD] ' /proc/%d/status >&2; then exit 9; fi\n", pid)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tar"), []byte(script+"exec "+tar+" \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestBackup does what docs/operations.md says: a backup of a runtime that serves and is
// at work, and all of it lost, and restored.
func TestBackup(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	if _, err := os.Stat("/proc/locks"); err != nil {
		t.Skip("the script stops processes that it finds in /proc")
	}
	archive := filepath.Join(t.TempDir(), "backup.tar.gz")
	configs := codextest.Dir(t, "configs")
	p := start(t, "RUNTIME_STATE_DIR="+filepath.Join(configs, ".runtime"), "CODEX_HOME="+filepath.Join(configs, ".codex"))
	if got := text(p.send("m1", "one", "remember 4711")); got == "" {
		t.Fatal("no answer")
	}
	words := []string{"/configs", configs, "backup.tar.gz", archive}

	// Meanwhile others talk to it, and all of them are answered.
	talk, over := make(chan struct{}, 3), make(chan struct{})
	var talkers sync.WaitGroup
	for who := range 3 {
		talkers.Go(func() {
			told := sync.OnceFunc(func() { talk <- struct{}{} })
			defer told()
			for i := 0; ; i++ {
				id := fmt.Sprintf("talk-%d-%d", who, i)
				answer, err := p.tryCall(t.Context(), "SendMessage", object{"message": message(id, fmt.Sprintf("talk-%d", who), "say "+id)})
				if task, _ := at(answer, "result", "task").(object); err != nil || text(task) != id {
					t.Errorf("%s was answered %v, %v", id, answer, err)
					return
				}
				if i == 1 {
					told()
				}
				select {
				case <-over:
					return
				default:
				}
			}
		})
	}
	for range 3 {
		<-talk
	}
	waits := p.begin("m2", "waits", "run sleep 300")["id"]
	progtest.WaitFor(t, "the command", func() bool { return progtest.Find(p.Pid(), "sleep 300") != 0 })
	tree := append(progtest.Descendants(p.Pid()), p.Pid())
	for range 3 {
		cmd := fromPage(t, "backup", words...)
		cmd.Env = append(os.Environ(), "PATH="+tarThatLooks(t, tree)+":"+os.Getenv("PATH"))
		mustRun(t, cmd)
	}
	if alive := progtest.Find(p.Pid(), "sleep 300"); alive == 0 {
		t.Error("the command that ran is gone")
	}
	close(over)
	talkers.Wait()
	if task := p.get(waits); state(task) != "TASK_STATE_WORKING" {
		t.Errorf("the task that ran is now %v", task["status"])
	}

	p.Kill()
	if err := os.RemoveAll(configs); err != nil {
		t.Fatal(err)
	}
	mustRun(t, fromPage(t, "restore", words...))
	p.Program = p.Restart()

	before := len(p.Model.Requests())
	task := p.send("m3", "one", "say I am back")
	if got := text(task); got != "I am back" {
		t.Fatalf("answered %q, %v", got, task["status"])
	}
	asked := p.Model.Requests()[before:]
	remembered := false
	for _, request := range asked {
		remembered = remembered || strings.Contains(string(request.Body), "remember 4711")
	}
	if !remembered {
		t.Error("the model was not told what was said before the backup")
	}
	if task := p.ended(waits); at(task, "status", "state") != "TASK_STATE_FAILED" {
		t.Errorf("the task that ran while the backup was made is %v", task["status"])
	}
	if got := text(p.send("m1", "one", "remember 4711")); got == "" {
		t.Error("the first message is not known any more")
	}
}

// TestRestoreOver restores over a runtime that works, as nobody should: it promises nothing
// that would be lost, lets no other in beside it, and goes on with what was restored.
func TestRestoreOver(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	if _, err := os.Stat("/proc/locks"); err != nil {
		t.Skip("the script finds the runtime in /proc")
	}
	archive := filepath.Join(t.TempDir(), "backup.tar.gz")
	configs := codextest.Dir(t, "configs")
	p := start(t, "RUNTIME_STATE_DIR="+filepath.Join(configs, ".runtime"), "CODEX_HOME="+filepath.Join(configs, ".codex"))
	if got := text(p.send("m1", "one", "say before")); got != "before" {
		t.Fatalf("answered %q", got)
	}
	words := []string{"/configs", configs, "backup.tar.gz", archive}
	mustRun(t, fromPage(t, "backup", words...))
	mustRun(t, fromPage(t, "restore", words...))

	answer, err := p.tryCall(t.Context(), "SendMessage", object{"message": message("m2", "one", "say lost")})
	if said, _ := at(answer, "error", "message").(string); err != nil || !strings.Contains(said, "was replaced") {
		t.Errorf("a message is answered %v, %v", answer, err)
	}
	lock, err := os.OpenFile(filepath.Join(configs, ".runtime", "state.lock"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
		t.Error("another runtime could start beside it")
	}
	p.Kill()
	p.Program = p.Restart()
	if got := text(p.send("m2", "one", "say found")); got != "found" {
		t.Errorf("after the restart it answers %q", got)
	}
}

// TestBackupFromWithin has the script refuse where it cannot do what it should: where it
// would stop what it was started by, and where it does not see whom to stop.
func TestBackupFromWithin(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	if _, err := os.Stat("/proc/locks"); err != nil {
		t.Skip("the script finds the runtime in /proc")
	}
	script := filepath.Join(codextest.Root(t), "deploy", "backup.sh")
	for sandbox, want := range map[string]string{
		"danger-full-access": "run it from outside",
		"workspace-write":    "cannot be seen from here",
	} {
		t.Run(sandbox, func(t *testing.T) {
			p := start(t, "CODEX_SANDBOX="+sandbox)
			command := fmt.Sprintf("run sh %s %s %s 2>&1 >/dev/null", script, p.State, p.State)
			if got := text(p.send("m1", "one", command)); !strings.Contains(got, want) {
				t.Errorf("it says %q", got)
			}
		})
	}
}
