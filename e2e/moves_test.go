package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// TestMoves: a conversation that was begun with one codex goes on with another, and back, over what a kill leaves. It
// takes a second codex: the tests of a codex that is not the pinned one (make compat) have two.
func TestMoves(t *testing.T) {
	t.Parallel()
	one, other := codextest.Bin(t), filepath.Join(codextest.Root(t), ".tools", "bin", "codex")
	if same(t, one, other) {
		t.Skip("there is one codex only: make compat")
	}
	for name, way := range map[string][]string{"from the pinned one": {other, one, other}, "to the pinned one": {one, other, one}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bin := filepath.Join(codextest.Dir(t, "bin"), "codex")
			use(t, bin, way[0])
			p := start(t, "CODEX_BIN="+bin)
			first := p.send("m1", "one", "remember red-9")
			asks := p.send("m2", "two", "escalate echo ran")
			cut := p.begin("m3", "three", "run echo x >> "+filepath.Join(p.Work, "ran")+"; sleep 60")["id"]
			p.commandRuns("sleep 60")
			for i, next := range way[1:] {
				p.Kill()
				use(t, bin, next)
				p.Program = p.Restart()
				again := p.send("recall"+string(rune('a'+i)), "one", "recall")
				if text(again) != "recalled: red-9" || at(again, "metadata", "threadId") != at(first, "metadata", "threadId") {
					t.Errorf("on codex %d of the way it recalls %q, on the thread %v and not %v", i+2, text(again), at(again, "metadata", "threadId"), at(first, "metadata", "threadId"))
				}
				if task := p.ended(cut); state(task) != "TASK_STATE_FAILED" || !strings.Contains(fmt.Sprint(task["status"]), "in the middle of this turn") {
					t.Errorf("the turn that was cut off is %v", task["status"])
				}
				if task := p.send("run"+string(rune('a'+i)), "three", "run echo y"); state(task) != "TASK_STATE_COMPLETED" {
					t.Errorf("behind the turn that was cut off: %v", task["status"])
				}
			}
			if task := p.get(asks["id"]); state(task) != "TASK_STATE_INPUT_REQUIRED" {
				t.Errorf("the question is %v", task["status"])
			}
			reply := message("yes", "two", "yes")
			reply["taskId"] = asks["id"]
			p.call("SendMessage", object{"message": reply, "configuration": object{"returnImmediately": true}})
			if task := p.ended(asks["id"]); state(task) != "TASK_STATE_COMPLETED" {
				t.Errorf("the question that was answered later: %v", task["status"])
			}
			if ran, err := os.ReadFile(filepath.Join(p.Work, "ran")); string(ran) != "x\n" {
				t.Errorf("the command ran as %q, %v", ran, err)
			}
		})
	}
}

// same reports whether two files are one codex.
func same(t *testing.T, one, other string) bool {
	t.Helper()
	a, err := os.Stat(one)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.Stat(other)
	if err != nil {
		t.Fatal(err)
	}
	return os.SameFile(a, b)
}

// use has a link lead to a program.
func use(t *testing.T, link, program string) {
	t.Helper()
	if err := os.Symlink(program, link+".new"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(link+".new", link); err != nil {
		t.Fatal(err)
	}
}
