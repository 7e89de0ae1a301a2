package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/screentest"
)

// terminal runs a command of runtime task on a terminal. Variables are NAME=value, and win.
func (p *program) terminal(columns, rows int, args []string, variables ...string) *screentest.Screen {
	p.t.Helper()
	cmd := exec.Command(binary, append([]string{"task"}, args...)...)
	cmd.Env = append(progtest.Environ(p.t), "RUNTIME_URL="+p.URL, "TERM=xterm-256color", "LANG=C.UTF-8")
	cmd.Env = append(cmd.Env, variables...)
	return screentest.Start(p.t, cmd, columns, rows)
}

// starting are the arguments of a task whose commands codex asks about if it finds that it has to.
func starting(lines ...string) []string {
	return []string{"start", "--sandbox", "workspace-write", "--approval-policy", "on-request", strings.Join(lines, "\n")}
}

// keep keeps what a screen shows among the test's output.
func keep(t *testing.T, name string, s *screentest.Screen) {
	t.Helper()
	text := s.Text()
	t.Logf("%s:\n%s", name, text)
	if err := os.WriteFile(filepath.Join(t.ArtifactDir(), name+".txt"), []byte(text), 0o600); err != nil {
		t.Error(err)
	}
}

// idOn is the id of the task that a screen is about.
func idOn(t *testing.T, s *screentest.Screen) string {
	t.Helper()
	id := regexp.MustCompile(`codex-[0-9a-f]{12}`).FindString(s.Text())
	if id == "" {
		t.Fatalf("there is no task on the screen:\n%s", s.Text())
	}
	return id
}

// TestTerminal works at a task: sees it, approves a command, tells it something, and sees its end.
func TestTerminal(t *testing.T) {
	t.Parallel()
	p := start(t)
	s := p.terminal(80, 30, starting("say I will look", "plan", "patch notes.txt", "escalate echo ran", "hang"))
	s.Await("I will look", "make a plan", "codex asks whether it may run", "echo ran", "[1] yes", "asks")
	keep(t, "question", s)
	s.Type("1")
	s.Await("› yes", "exit 0", "working")
	s.Type("say instead" + screentest.Enter)
	s.Await("› say instead")
	keep(t, "steered", s)
	if code := s.Exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	keep(t, "end", s)
	for _, want := range []string{"+++", "completed", "instead"} {
		if text := s.Text(); !strings.Contains(text, want) {
			t.Errorf("the screen lacks %q:\n%s", want, text)
		}
	}
}

// TestTerminalLeaves leaves a task at work, comes back to it, and cancels it.
func TestTerminalLeaves(t *testing.T) {
	t.Parallel()
	p := start(t)
	s := p.terminal(80, 24, starting("say on it", "hang"))
	s.Await("on it", "working")
	id := idOn(t, s)
	s.Type(screentest.CtrlC)
	s.Await("[c] cancel the task  [l] leave")
	keep(t, "leaving", s)
	s.Type(screentest.CtrlC)
	if code := s.Exit(); code != 1 || !strings.Contains(s.Text(), "runtime task watch "+id) {
		t.Errorf("exit code %d:\n%s", code, s.Text())
	}
	if got := statusOf(p, id); got["status"] != "working" {
		t.Fatalf("the task that was left is %v", got["status"])
	}

	s = p.terminal(80, 24, []string{"watch", id})
	s.Await("on it", "working")
	s.Type(screentest.CtrlC)
	s.Await("[c] cancel")
	s.Type("c")
	if code := s.Exit(); code != 1 || !strings.Contains(s.Text(), id+" cancelled") {
		t.Errorf("exit code %d:\n%s", code, s.Text())
	}
}

// TestTerminalAttaches works at a task that another client has begun, and tells it something first.
func TestTerminalAttaches(t *testing.T) {
	t.Parallel()
	p := start(t)
	task := p.begin("m1", "chat", "hang")
	p.modelAsked(1)
	id, _ := task["id"].(string)
	s := p.terminal(80, 24, []string{"start", "--attach", id, "say instead"})
	if code := s.Exit(); code != 0 || !strings.Contains(s.Text(), id+": hang") || !strings.Contains(s.Text(), "instead") {
		t.Errorf("exit code %d:\n%s", code, s.Text())
	}
}

// TestTerminalComesBack kills the runtime while a question is open. The terminal finds the next one by
// itself, and the answer that is given there is the question's.
func TestTerminalComesBack(t *testing.T) {
	t.Parallel()
	p := start(t, "RUNTIME_ADDR="+progtest.FreeAddr(t))
	s := p.terminal(80, 24, starting("say first words", "escalate echo ran"))
	s.Await("first words", "[1] yes")
	id := idOn(t, s)
	p.Kill()
	s.Await("the runtime is away")
	keep(t, "away", s)
	p.again()
	s.Until("the question again", func(screen string) bool {
		return !strings.Contains(screen, "is away") && strings.Contains(screen, "[1] yes") && strings.Contains(screen, "asks ")
	})
	keep(t, "back", s)
	s.Type("no" + screentest.Enter)
	s.Await(id + " completed")
	if code := s.Exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	keep(t, "end", s)
	if n := strings.Count(s.Text(), "first words"); n > 2 { // in the prompt, and once said
		t.Errorf("what was said before stands there %d times:\n%s", n, s.Text())
	}
}

// TestTerminalPlain does the same on a terminal that is read aloud.
func TestTerminalPlain(t *testing.T) {
	t.Parallel()
	p := start(t)
	s := p.terminal(100, 40, append(starting("say I will look", "escalate echo ran", "hang"), "--plain"))
	s.Await("I will look", "[1] yes", "or answer in words")
	s.Type("yes" + screentest.Enter) // sooner than it can have been read
	s.Await("An empty line sends \"yes\" as its answer")
	s.Type(screentest.Enter)
	s.Await("answered", "exit 0")
	s.Type("say instead" + screentest.Enter)
	s.Await("completed")
	if code := s.Exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	keep(t, "plain", s)

	s = p.terminal(100, 40, append(starting("hang"), "--plain"))
	s.Await("Ctrl-C asks")
	s.Type(screentest.CtrlC)
	s.Await("c cancels, l leaves")
	s.Type("c" + screentest.Enter)
	if code := s.Exit(); code != 1 || !strings.Contains(s.Text(), "cancelled") {
		t.Errorf("exit code %d:\n%s", code, s.Text())
	}
	s = p.terminal(100, 40, append(starting("hang"), "--plain"))
	s.Await("Ctrl-C asks")
	s.Type(screentest.CtrlC)
	s.Await("c cancels, l leaves")
	s.Type(screentest.CtrlC)
	if code := s.Exit(); code != 1 || !strings.Contains(s.Text(), "goes on without you") {
		t.Errorf("exit code %d:\n%s", code, s.Text())
	}
}

// TestTerminalOfOldTimes is narrow, and has neither colours nor Unicode.
func TestTerminalOfOldTimes(t *testing.T) {
	t.Parallel()
	p := start(t)
	s := p.terminal(30, 12, starting("plan", "patch notes.txt", "escalate echo ran"), "NO_COLOR=1", "LANG=C")
	s.Await("[1] yes")
	keep(t, "narrow", s)
	if raw := s.Raw(); regexp.MustCompile(`\x1b\[[0-9;]*m`).MatchString(raw) || strings.ContainsAny(s.Text(), "›✓▸·→…") {
		t.Errorf("the screen has colours, or signs that are no ASCII: %q", raw)
	}
	s.Resize(60, 20)
	s.Type("2")
	s.Await("completed")
	if code := s.Exit(); code != 0 || strings.Contains(s.Raw(), "\x1b[1m") {
		t.Errorf("exit code %d:\n%s", code, s.Text())
	}
	keep(t, "wider", s)
}

// TestTerminalSignals: whatever ends the program, the task goes on, and the terminal has the mode that it had.
func TestTerminalSignals(t *testing.T) {
	t.Parallel()
	p := start(t)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		s := p.terminal(80, 24, starting("hang"))
		s.Await("working")
		before := s.Echoes()
		s.Signal(sig)
		if code := s.Exit(); code != 1 || !strings.Contains(s.Text(), "goes on without you") || before || !s.Echoes() {
			t.Errorf("%s: exit code %d, echoes %t, then %t:\n%s", sig, code, before, s.Echoes(), s.Text())
		}
		if got := statusOf(p, idOn(t, s)); got["status"] != "working" {
			t.Errorf("%s: the task is %v", sig, got["status"])
		}
	}
	s := p.terminal(80, 24, starting("hang"))
	s.Await("working")
	s.Signal(syscall.SIGINT)
	s.Await("[c] cancel")
	s.Type("c")
	s.Await("cancelled")
}
