package tasks_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// A fullJournal is on a disk that has room for what is written of tasks, and at times for
// no message.
type fullJournal struct {
	tasks.Journal
	full atomic.Bool
}

func (f *fullJournal) Accept(ctx context.Context, m store.Message, head store.Head) error {
	if f.full.Load() {
		return store.ErrFull
	}
	return f.Journal.Accept(ctx, m, head)
}

// TestAnswerThatIsNotAccepted leaves its question open. The message that comes next has its
// number, and is no answer for that.
func TestAnswerThatIsNotAccepted(t *testing.T) {
	for name, stale := range map[string]bool{"live": false, "stale": true} {
		t.Run(name, func(t *testing.T) {
			var journal *fullJournal
			m := newMachine(t, func(c *tasks.Config) {
				c.Main, c.Workspace = "canvas-ws", &tasks.Workspace{}
				journal = &fullJournal{Journal: c.Journal}
				c.Journal, c.Runner = journal, &asker{runner: c.Runner.(*runner)}
			})
			bobs := request("m1", "", "hi")
			bobs.Metadata = by("bob")
			task := begin(t, m.e, bobs)
			m.r.next(t).start().ask("q1", "May I?")
			if stale {
				m.restart()
			}
			journal.full.Store(true)
			if _, err := m.e.SendMessage(t.Context(), to(task, "m2", "yes")); err == nil || !strings.Contains(err.Error(), "disk is full") {
				t.Fatalf("the answer is refused with %v", err)
			}
			journal.full.Store(false)
			next := to(task, "m3", "no")
			next.Metadata = by("bob")
			begin(t, m.e, next)
			m.restart()
			if j := m.r.next(t); strings.Contains(j.prompt(), "The user's answer") {
				t.Errorf("another agent's message runs as %q", j.prompt())
			}
			wantStatus(t, get(t, m.e, task.ID), a2a.TaskStateInputRequired, "May I?")
		})
	}
}

// TestQuestionThatNamesAStrangersMessage: a number that a journal says is an answer's is
// another agent's message.
func TestQuestionThatNamesAStrangersMessage(t *testing.T) {
	m := newMachine(t, func(c *tasks.Config) {
		c.Main, c.Workspace, c.Runner = "canvas-ws", &tasks.Workspace{}, &asker{runner: c.Runner.(*runner)}
	})
	bobs := request("m1", "", "hi")
	bobs.Metadata = by("bob")
	task := begin(t, m.e, bobs)
	m.r.next(t).start().ask("q1", "May I?")
	next := to(task, "m2", "no")
	next.Metadata = by("bob")
	begin(t, m.e, next)
	answered := store.Question{ID: "q1", Body: []byte(`{"job":"` + string(task.ID) + `.1","text":"May I?","answeredBy":"` + string(task.ID) + `.2"}`)}
	if err := m.st.Write(t.Context(), store.Change{Task: string(task.ID), Ask: []store.Question{answered}}); err != nil {
		t.Fatal(err)
	}
	m.restart()
	if j := m.r.next(t); strings.Contains(j.prompt(), "The user's answer") {
		t.Errorf("another agent's message runs as %q", j.prompt())
	}
	wantStatus(t, get(t, m.e, task.ID), a2a.TaskStateInputRequired, "May I?")
}

// TestAnswerThatIsTakenBack: its question, which an earlier process has asked, does not name
// it after the next start, though that could not be written at once.
func TestAnswerThatIsTakenBack(t *testing.T) {
	broken := &brokenJournal{}
	m := newMachine(t, func(c *tasks.Config) { broken.Journal, c.Journal = c.Journal, broken })
	task := begin(t, m.e, request("m1", "c", "hi"))
	m.r.next(t).start().ask("q1", "May I?")
	m.restart()
	m.r.refuse = executor.ErrQueueFull
	broken.stiff.Store(true)
	if _, err := m.e.SendMessage(t.Context(), to(task, "m2", "yes")); err == nil {
		t.Fatal("the answer is taken")
	}
	broken.stiff.Store(false)
	for _, want := range []bool{true, false} {
		pending, err := m.st.Unfinished(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if kept := string(pending[0].Questions[0].Body); strings.Contains(kept, "answeredBy") != want {
			t.Errorf("the question is kept as %s", kept)
		}
		m.restart()
	}
	wantStatus(t, get(t, m.e, task.ID), a2a.TaskStateInputRequired, "May I?")
}
