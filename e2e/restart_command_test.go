package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestKilledAroundACommand kills the program at instants around a command that
// appends a line: it never runs a second time unless that is asked for.
func TestKilledAroundACommand(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	for name, test := range map[string]struct {
		until func(p *program, lines func() int) bool // the kill comes when this holds
		ran   int                                     // lines after the restart; -1: none or one
	}{
		"accepted":   {func(*program, func() int) bool { return true }, -1},
		"model":      {func(p *program, _ func() int) bool { return len(p.Model.Requests()) >= 1 }, -1},
		"command":    {func(_ *program, lines func() int) bool { return lines() >= 1 }, 1},
		"next-model": {func(p *program, _ func() int) bool { return len(p.Model.Requests()) >= 2 }, 1},
	} {
		t.Run(name, func(t *testing.T) { killedAround(t, test.until, test.ran) })
	}
}

func killedAround(t *testing.T, until func(*program, func() int) bool, ran int) {
	p := start(t)
	file := filepath.Join(p.Work, "lines")
	lines := func() int { return countLines(t, file) }
	words := "run echo line >> lines; sleep 0.3"
	id := p.begin("m1", "one", words)["id"]
	progtest.WaitFor(t, "the instant of the kill", func() bool { return until(p, lines) })
	p.again()
	task := p.ended(id)
	interrupted := at(task, "metadata", "interrupted") == true
	switch n := lines(); {
	case state(task) != "TASK_STATE_COMPLETED" && !interrupted:
		t.Errorf("the task ended as %v, want it completed or interrupted", task["status"])
	case ran >= 0 && n != ran, n > 1:
		t.Errorf("the command ran %d times", n)
	}
	before := lines()
	if again := p.send("m1", "one", words); again["id"] != id || lines() != before {
		t.Errorf("repeated, the message became task %v and left %d lines, want %v and %d", again["id"], lines(), id, before)
	}
	if !interrupted {
		return
	}
	asked := message("m1", "one", words)
	asked["metadata"] = object{"retry": true}
	retried := p.task(p.call("SendMessage", object{"message": asked}))
	if state(retried) != "TASK_STATE_COMPLETED" || at(retried, "metadata", "retryOf") != id || lines() != before+1 {
		t.Errorf("run again on purpose: %v, %d lines, want it completed with one line more than %d", retried, lines(), before)
	}
}

func countLines(t *testing.T, file string) int {
	t.Helper()
	written, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
	return strings.Count(string(written), "\n")
}

// TestStopEndsCommands ends on SIGTERM; what a command has begun is not begun again.
func TestStopEndsCommands(t *testing.T) {
	t.Parallel()
	p := start(t)
	id := p.begin("m1", "one", "run echo line >> lines; sleep 62.5")["id"]
	progtest.WaitFor(t, "the command to run", func() bool { return countLines(t, filepath.Join(p.Work, "lines")) == 1 })
	p.Stop()
	p.Program = p.Restart()
	if task := p.ended(id); at(task, "metadata", "interrupted") != true {
		t.Errorf("task = %v, want it interrupted", task)
	}
	if n := countLines(t, filepath.Join(p.Work, "lines")); n != 1 {
		t.Errorf("the command ran %d times", n)
	}
}

// TestLeftoversEndAtStart ends what a command of the killed process has left.
func TestLeftoversEndAtStart(t *testing.T) {
	t.Parallel()
	p := start(t, "CODEX_SANDBOX=danger-full-access")
	id := p.begin("m1", "one", "run setsid sleep 63.5 & sleep 64.5")["id"]
	var pid int
	progtest.WaitFor(t, "the command to run", func() bool {
		pid = progtest.Find(p.Child(), "sleep 63.5")
		return pid != 0
	})
	p.Kill()
	if !progtest.Alive(pid) {
		t.Fatal("the command ended with the program: this test has nothing to show")
	}
	p.Program = p.Restart()
	progtest.WaitFor(t, "the command to be killed", func() bool { return !progtest.Alive(pid) })
	if task := p.ended(id); at(task, "metadata", "interrupted") != true {
		t.Errorf("task = %v, want it interrupted", task)
	}
}
