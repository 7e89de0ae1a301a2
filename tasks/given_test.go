package tasks_test

import (
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// keptAnswer is a machine on which the answer to the only question of a task waits for its
// turn to go on.
func keptAnswer(t *testing.T) (*machine, *a2a.Task, *job) {
	t.Helper()
	m, task, j := askingMachine(t, time.Time{}, "q1")
	m.asker.keeps = true
	yes := to(task, "m2", "yes")
	yes.Config.ReturnImmediately = true
	wantStatus(t, send(t, m.e, yes), a2a.TaskStateWorking)
	return m, task, j
}

// wantLeft checks what the journal would have the next process do.
func (m *machine) wantLeft(t *testing.T, messages, questions int) {
	t.Helper()
	pending, err := m.st.Unfinished(t.Context())
	if err != nil || len(pending) != 1 || len(pending[0].Messages) != messages || len(pending[0].Questions) != questions {
		t.Errorf("left in the journal: %+v, %v; want %d messages and %d questions", pending, err, messages, questions)
	}
}

// TestKeptAnswer is in the journal until its turn has got it, and no longer.
func TestKeptAnswer(t *testing.T) {
	m, task, j := keptAnswer(t)
	m.wantLeft(t, 2, 1)
	again := to(task, "m2", "yes")
	again.Config.ReturnImmediately = true
	send(t, m.e, again)
	if got := m.asker.answered(); got != "q1:yes" {
		t.Errorf("the same answer again: %q", got)
	}
	m.asker.reached(j.ID, "q1")
	m.wantLeft(t, 1, 0)
	j.answer("done")
	wantTask(t, get(t, m.e, task.ID), a2a.TaskStateCompleted, "done")
}

// TestKeptAnswerOverARestart makes one new turn, which carries question and answer: after
// a kill, and after a stop in which the turn says that a tool had started.
func TestKeptAnswerOverARestart(t *testing.T) {
	for name, end := range map[string]func(*job){
		"killed": func(*job) {},
		"stopped": func(j *job) {
			j.end(agent.Ended{Outcome: agent.Interrupted, Tools: true, Failure: &agent.Failure{Kind: agent.FailShutdown, Message: "stopping"}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, task, j := keptAnswer(t)
			end(j)
			m.restart()
			m.asker.keeps = false
			j = m.r.next(t)
			if got := j.prompt(); !strings.Contains(got, "May I q1?") || !strings.HasSuffix(got, "yes") || m.r.count() != 1 {
				t.Errorf("%d jobs, one is given %q", m.r.count(), got)
			}
			j.start().answer("done")
			wantTask(t, get(t, m.e, task.ID), a2a.TaskStateCompleted, "done")
		})
	}
}

// TestKeptAnswerInVain: codex ends before it has the answer, and asks again.
func TestKeptAnswerInVain(t *testing.T) {
	m, task, j := keptAnswer(t)
	j.observe(agent.Answered{ID: "q1", Note: "codex has ended."})
	m.wantLeft(t, 1, 0)
	j.ask("q2", "May I now?")
	task = get(t, m.e, task.ID)
	wantStatus(t, task, a2a.TaskStateInputRequired, "May I now?")
	if history := said(task); history[len(history)-1] != "codex has ended." {
		t.Errorf("history %q", history)
	}
	m.asker.keeps = false
	yes := to(task, "m3", "yes")
	yes.Config.ReturnImmediately = true
	send(t, m.e, yes)
	j.answer("done")
	wantTask(t, get(t, m.e, task.ID), a2a.TaskStateCompleted, "done")
}

// TestKeptAnswerEndsWithItsTask leaves nothing to the next process.
func TestKeptAnswerEndsWithItsTask(t *testing.T) {
	m, task, _ := keptAnswer(t)
	if _, err := m.e.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: task.ID}); err != nil {
		t.Fatal(err)
	}
	if pending, err := m.st.Unfinished(t.Context()); err != nil || len(pending) != 0 {
		t.Errorf("left in the journal: %+v, %v", pending, err)
	}
}
