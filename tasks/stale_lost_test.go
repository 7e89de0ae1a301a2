package tasks_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/overrides"
)

// A lostMachine asks in a turn whose options a restart can lose.
type lostMachine struct {
	*machine
	bounds overrides.Bounds
	task   *a2a.Task
}

// newLostMachine has asked, and has messages that wait behind that turn.
func newLostMachine(t *testing.T, meta map[string]any, waiting ...string) *lostMachine {
	t.Helper()
	l := &lostMachine{machine: newMachine(t), bounds: overrides.Bounds{WorkDir: t.TempDir(), Sandbox: agent.FullAccess, ApprovalPolicy: agent.OnRequest}}
	if err := os.Mkdir(l.folder(), 0o700); err != nil {
		t.Fatal(err)
	}
	l.change = append(l.change, func(c *tasks.Config) {
		c.Bounds = l.bounds
		l.asker = &asker{runner: c.Runner.(*runner)}
		c.Runner = l.asker
	})
	l.restart()
	first := request("m1", "c", "hi")
	first.Message.Metadata = meta
	l.task = begin(t, l.e, first)
	j := l.r.next(t).start()
	for _, text := range waiting {
		begin(t, l.e, to(l.task, text, text))
		l.r.next(t)
	}
	j.observe(agent.Question{ID: "q1", Kind: "command", Text: "May I?", Data: map[string]any{"id": "q1"}})
	return l
}

func (l *lostMachine) folder() string { return filepath.Join(l.bounds.WorkDir, "sub") }

// The ways in which options are lost over the restart.
func (l *lostMachine) removeFolder()  { _ = os.Remove(l.folder()) }
func (l *lostMachine) narrowSandbox() { l.bounds.Sandbox = agent.ReadOnly }

// lose restarts the machine where the turn that asked has lost its options.
func (l *lostMachine) lose(how func(*lostMachine)) {
	l.kill()
	how(l)
	l.start()
}

// TestAnswerToATurnThatCannotGoOn is taken, whatever it says, and ends as rejected: its sender has
// named nothing of what is not to be had any more. The next message is one like any other.
func TestAnswerToATurnThatCannotGoOn(t *testing.T) {
	for name, c := range map[string]struct {
		meta map[string]any
		lose func(*lostMachine)
		why  string
	}{
		"folder":  {map[string]any{"cwd": "sub"}, (*lostMachine).removeFolder, "is no folder under the working directory"},
		"sandbox": {map[string]any{"sandbox": "workspace-write"}, (*lostMachine).narrowSandbox, `sandbox "workspace-write" is not to be had here`},
	} {
		for _, says := range []string{"no", "yes", "something else entirely", "by-id"} {
			t.Run(name+"/"+says, func(t *testing.T) {
				l := newLostMachine(t, c.meta)
				l.lose(c.lose)
				wantStatus(t, get(t, l.e, l.task.ID), a2a.TaskStateInputRequired, "May I?")
				answer := request("m2", "c", says)
				if says == "by-id" {
					answer = answerWith(l.task, "m2", map[string]any{"id": "q1", "decision": "decline"})
				}
				for range 2 { // the second time it is the same message
					got := begin(t, l.e, answer)
					wantStatus(t, got, a2a.TaskStateRejected, "the question is closed", c.why, "as a new message")
					if got.ID != l.task.ID {
						t.Errorf("the answer is of task %s, want %s", got.ID, l.task.ID)
					}
				}
				l.restart()
				wantStatus(t, get(t, l.e, l.task.ID), a2a.TaskStateRejected, c.why)
				next := begin(t, l.e, request("m3", "c", "go on"))
				if j := l.r.next(t); j.prompt() != "go on" || j.Options != (agent.Options{}) || next.ID == l.task.ID || l.r.count() != 1 {
					t.Errorf("%d jobs, the next message is task %s, with %+v", l.r.count(), next.ID, j.Job)
				}
			})
		}
	}
}

// TestAnswerThatAsksForWhatCannotBeHad is refused, and the question stays: its sender can do better.
// One that asks for something else in the place of what is lost goes on with that.
func TestAnswerThatAsksForWhatCannotBeHad(t *testing.T) {
	for name, meta := range map[string]map[string]any{
		"by itself":                {"cwd": "sub"},
		"beside what the turn had": {"sandbox": "danger-full-access"}, // in which it asked nobody
	} {
		l := newLostMachine(t, map[string]any{"sandbox": "workspace-write", "approvalPolicy": "never"})
		l.lose((*lostMachine).removeFolder)
		wrong := to(l.task, "m2", "yes")
		wrong.Message.Metadata = meta
		if _, err := l.e.SendMessage(t.Context(), wrong); err == nil {
			t.Errorf("%s: it was taken", name)
		} else {
			wantError(t, err, a2a.ErrInvalidParams, "")
		}
		wantStatus(t, get(t, l.e, l.task.ID), a2a.TaskStateInputRequired, "May I?")
	}
	l := newLostMachine(t, map[string]any{"cwd": "sub", "sandbox": "workspace-write"})
	l.lose((*lostMachine).removeFolder)
	right := to(l.task, "m2", "yes")
	right.Message.Metadata = map[string]any{"cwd": "."}
	begin(t, l.e, right)
	if got := l.r.next(t).Options; got != (agent.Options{Cwd: l.bounds.WorkDir, Sandbox: agent.WorkspaceWrite}) {
		t.Errorf("the turn of the answer has %+v", got)
	}
}

// TestKeptAnswerToATurnThatCannotGoOn was given before the restart.
func TestKeptAnswerToATurnThatCannotGoOn(t *testing.T) {
	l := newLostMachine(t, map[string]any{"cwd": "sub"})
	l.asker.onAnswer = func() { _ = l.st.Close() } // nothing is written from here on
	yes := to(l.task, "m2", "yes")
	yes.Config.ReturnImmediately = true
	_, _ = l.e.SendMessage(t.Context(), yes)
	l.lose((*lostMachine).removeFolder)
	wantStatus(t, get(t, l.e, l.task.ID), a2a.TaskStateRejected, "the question is closed", "is no folder")
}

// TestAnswerToATurnThatCannotGoOnBesideOthers ends alone: the task goes on with the messages that it has.
func TestAnswerToATurnThatCannotGoOnBesideOthers(t *testing.T) {
	l := newLostMachine(t, map[string]any{"cwd": "sub"}, "and more")
	l.lose((*lostMachine).removeFolder)
	more := l.r.next(t)
	task := begin(t, l.e, answerWith(l.task, "m3", map[string]any{"id": "q1", "decision": "decline"}))
	if task.Status.State.Terminal() || l.r.count() != 1 {
		t.Errorf("%d jobs, the task is %s", l.r.count(), task.Status.State)
	}
	more.start().answer("done")
	task = get(t, l.e, l.task.ID)
	wantTask(t, task, a2a.TaskStateCompleted, "done")
	if history := strings.Join(said(task), "|"); !strings.Contains(history, "May I?") {
		t.Errorf("history %q", history)
	}
}
