package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
	"github.com/Molecule-AI/molecule-codex-runtime/worktree"
)

// repository makes a git repository with one file in it.
func repository(t *testing.T) string {
	t.Helper()
	dir := codextest.Dir(t, "repository")
	if err := os.WriteFile(filepath.Join(dir, "README"), []byte("the beginning\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"-c", "user.name=op", "-c", "user.email=op@localhost", "commit", "-qm", "first"}} {
		git(t, dir, args...)
	}
	return dir
}

// git runs git in a folder, and returns what it prints.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// startWithGit starts a runtime whose conversations have worktrees of a repository on machines, each with a root of its own.
func startWithGit(t *testing.T, names ...string) (*program, map[string]*fleetMachine) {
	t.Helper()
	all, list := map[string]*fleetMachine{}, []string{}
	for _, name := range names {
		all[name] = startMember(t, name, codextest.Dir(t, name))
		list = append(list, all[name].at)
	}
	work := repository(t)
	p := start(t, "RUNTIME_WORKDIR="+work, "RUNTIME_MACHINES_FILES=git", "RUNTIME_MACHINES="+strings.Join(list, ","), "RUNTIME_MACHINES_TOKEN="+machinesToken)
	p.Work = work
	return p, all
}

// askedWith is the last request to the model that has some words in it.
func (p *program) askedWith(words string) string {
	for _, r := range slices.Backward(p.Model.Requests()) {
		if strings.Contains(string(r.Body), words) {
			return string(r.Body)
		}
	}
	return ""
}

// killed kills a machine, and returns when the runtime knows of it: a turn that begins before that may get to a tool there,
// and is interrupted then instead of moved.
func (p *program) killed(m *fleetMachine) {
	p.t.Helper()
	m.Kill()
	progtest.WaitFor(p.t, "the loss of machine "+m.name+" to be known", func() bool { return p.machineList()[m.name].State == "lost" })
}

// TestMachinesWithGit: each conversation has files of its own, which go with it where its machine is gone, and come back; the
// operator's repository has nothing of it, and that of the runtime has each turn as a commit.
func TestMachinesWithGit(t *testing.T) {
	t.Parallel()
	p, machines := startWithGit(t, "m1", "m2")
	first := p.send("1", "one", "run cat README; echo one > a")
	if text(first) != "the beginning" {
		t.Fatalf("%v: %q", first["status"], text(first))
	}
	if task := p.send("2", "two", "run ls"); text(task) != "README" || on(task) == on(first) {
		t.Errorf("the other conversation, on %s, has %q", on(task), text(task))
	}
	again := p.send("3", "one", "run cat a; echo two >> a")
	if text(again) != "one" || on(again) != on(first) {
		t.Errorf("on %s: %q", on(again), text(again))
	}
	own := filepath.Join(p.State, "conversations.git")
	branch := worktree.BranchOf("one")
	progtest.WaitFor(t, "the turn to be kept", func() bool {
		out, err := exec.Command("git", "-C", own, "show", branch+":a").Output()
		return err == nil && string(out) == "one\ntwo\n"
	})
	if log := git(t, own, "log", "--format=%s", branch); log != fmt.Sprintf("turn %s.1\nturn %s.1\nfirst", again["id"], first["id"]) {
		t.Errorf("its commits are\n%s", log)
	}
	victim := machines[on(first)]
	p.killed(victim)
	moved := p.send("4", "one", "run cat a; echo three >> a")
	if text(moved) != "one\ntwo" || on(moved) == victim.name {
		t.Fatalf("on %s: %v: %q", on(moved), moved["status"], text(moved))
	}
	if told := p.askedWith("cat a; echo three"); !strings.Contains(told, "This conversation goes on on another machine than before: "+victim.name) || !strings.Contains(told, "as they were left there") {
		t.Errorf("the model is not told that it has moved: %s", told)
	}
	victim.restarts(t)
	progtest.WaitFor(t, "the turn to be kept", func() bool {
		out, err := exec.Command("git", "-C", own, "show", branch+":a").Output()
		return err == nil && string(out) == "one\ntwo\nthree\n"
	})
	p.killed(machines[on(moved)])
	if back := p.send("5", "one", "run cat a"); text(back) != "one\ntwo\nthree" || on(back) != victim.name {
		t.Errorf("on %s: %v: %q", on(back), back["status"], text(back))
	}
	if left := git(t, p.Work, "status", "--porcelain", "--branch"); left != "## main" || git(t, p.Work, "branch", "--list") != "* main" {
		t.Errorf("the operator's repository: %s", left)
	}
}

// TestMachineWithGitCut: what a turn has changed that was cut off by the end of the runtime is kept, and so is what it was cut
// off in by the end of its machine, there; the conversation that goes on elsewhere says that it goes on without it.
func TestMachineWithGitCut(t *testing.T) {
	t.Parallel()
	p, machines := startWithGit(t, "m1", "m2")
	first := p.send("1", "one", "run echo one > a")
	holds := machines[on(first)]
	begins := filepath.Join(fmt.Sprint(at(first, "metadata", "cwd")), "begun")
	cut := p.begin("2", "one", "run echo two >> a; touch begun; sleep 600")["id"]
	progtest.WaitFor(t, "the command to begin", func() bool { _, err := os.Stat(begins); return err == nil })
	p.Kill()
	p.Program = p.Restart()
	if task := p.ended(cut); state(task) != "TASK_STATE_FAILED" {
		t.Errorf("the turn that was cut off is %v", task["status"])
	}
	if task := p.send("3", "one", "run cat a; rm begun"); text(task) != "one\ntwo" || on(task) != holds.name {
		t.Errorf("on %s: %q", on(task), text(task))
	}
	cut = p.begin("4", "one", "run echo three >> a; touch begun; sleep 600")["id"]
	progtest.WaitFor(t, "the command to begin", func() bool { _, err := os.Stat(begins); return err == nil })
	holds.Kill()
	if task := p.ended(cut); state(task) != "TASK_STATE_FAILED" || !strings.Contains(fmt.Sprint(task["status"]), "machine "+holds.name) {
		t.Errorf("the turn that was cut off is %v", task["status"])
	}
	moved := p.send("5", "one", "run cat a")
	if text(moved) != "one\ntwo" || on(moved) == holds.name {
		t.Errorf("on %s: %q", on(moved), text(moved))
	}
	if told := p.askedWith("run cat a"); !strings.Contains(told, "what was changed after that is not among them") {
		t.Errorf("the model is not told what is missing: %s", told)
	}
}

// TestMachineWithGitBack: what a turn that was cut off has left on a machine is not there for the conversation when it comes
// back from another machine, also where its branch has not changed meanwhile.
func TestMachineWithGitBack(t *testing.T) {
	t.Parallel()
	p, machines := startWithGit(t, "m1", "m2")
	first := p.send("1", "one", "run echo one > a")
	here := machines[on(first)]
	begins := filepath.Join(fmt.Sprint(at(first, "metadata", "cwd")), "begun")
	cut := p.begin("2", "one", "run echo two >> a; touch begun; sleep 600")["id"]
	progtest.WaitFor(t, "the command to begin", func() bool { _, err := os.Stat(begins); return err == nil })
	p.killed(here)
	if task := p.ended(cut); state(task) != "TASK_STATE_FAILED" {
		t.Errorf("the turn that was cut off is %v", task["status"])
	}
	moved := p.send("3", "one", "run cat a")
	if text(moved) != "one" || on(moved) == here.name {
		t.Errorf("on %s: %v: %q", on(moved), moved["status"], text(moved))
	}
	here.restarts(t)
	progtest.WaitFor(t, "the machine to be back", func() bool { return p.machineList()[here.name].Takes })
	p.killed(machines[on(moved)])
	if back := p.send("4", "one", "run cat a; ls"); text(back) != "one\nREADME\na" || on(back) != here.name {
		t.Errorf("on %s: %v: %q", on(back), back["status"], text(back))
	}
}

// TestMachineWithGitLeft: the model of a conversation that goes on elsewhere is told which files were too large to go with it.
func TestMachineWithGitLeft(t *testing.T) {
	t.Parallel()
	p, machines := startWithGit(t, "m1", "m2")
	first := p.send("1", "one", "run touch a; for i in 1 2 3 4 5 6 7; do truncate -s 101M big$i; done")
	own, branch := filepath.Join(p.State, "conversations.git"), worktree.BranchOf("one")
	progtest.WaitFor(t, "the turn to be kept", func() bool {
		return exec.Command("git", "-C", own, "cat-file", "-e", branch+":a").Run() == nil
	})
	p.killed(machines[on(first)])
	if moved := p.send("2", "one", "run ls"); text(moved) != "README\na" {
		t.Errorf("on %s: %v: %q", on(moved), moved["status"], text(moved))
	}
	if told := p.askedWith("run ls"); !strings.Contains(told, "files of more than 100 MiB or that could not be read: big1, big2, big3, big4, big5 and 2 more.") {
		t.Errorf("the model is not told what is missing: %s", told)
	}
}

// TestMachineWithGitReads: git only reads in the folder of a conversation, as codex's sandbox has it, and the model is told so
// once; the sender is not.
func TestMachineWithGitReads(t *testing.T) {
	t.Parallel()
	p, _ := startWithGit(t, "m1")
	shown := p.stream(t.Context(), "SendStreamingMessage", object{"message": message("1", "one", "run git log --format=%s; git add README 2>&1 | tail -c 22")})
	var all strings.Builder
	for event := shown.next(); event != nil; event = shown.next() {
		fmt.Fprintln(&all, event)
	}
	if !strings.Contains(all.String(), "Read-only file system") || strings.Contains(all.String(), "git only reads") {
		t.Errorf("the sender is shown %s", all.String())
	}
	p.send("2", "one", "run echo the second")
	if n := strings.Count(p.askedWith("echo the second"), "In the sandbox git only reads here"); n != 1 {
		t.Errorf("the model is told %d times", n)
	}
}

// TestMachinesWithGitFiles: the file of a message is in the conversation's folder on its machine, under the name that the model
// reads, and in no commit. It is brought again where the conversation goes on.
func TestMachinesWithGitFiles(t *testing.T) {
	t.Parallel()
	p, machines := startWithGit(t, "m1", "m2")
	m := message("1", "one", "run cat .attachments/*note.txt; echo x > a")
	m["parts"] = append(m["parts"].([]object), object{"raw": "aGVsbG8=", "filename": "note.txt", "mediaType": "text/plain"})
	task := p.task(p.call("SendMessage", object{"message": m}))
	if got := text(task); got != "hello" {
		t.Fatalf("it is %v: %q", task["status"], got)
	}
	dir := fmt.Sprint(at(task, "metadata", "cwd"))
	if asked := p.askedWith("Attached files"); !strings.Contains(asked, "at "+dir+"/.attachments/") || strings.Contains(asked, p.Work+"/.molecule") {
		t.Errorf("the model reads %s", asked)
	}
	own, branch := filepath.Join(p.State, "conversations.git"), worktree.BranchOf("one")
	progtest.WaitFor(t, "the turn to be kept", func() bool {
		return exec.Command("git", "-C", own, "cat-file", "-e", branch+":a").Run() == nil
	})
	if all := git(t, own, "ls-tree", "-r", "--name-only", branch); all != "README\na" {
		t.Errorf("its branch has %q", all)
	}
	p.killed(machines[on(task)])
	if moved := p.send("2", "one", "run cat .attachments/*note.txt"); text(moved) != "hello" || on(moved) == on(task) {
		t.Errorf("on %s it is %v: %q", on(moved), moved["status"], text(moved))
	}
}
