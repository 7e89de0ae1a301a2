package tasks_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// TestQuestionThatIsLost: its call was there when it was asked, and the answer was not.
func TestQuestionThatIsLost(t *testing.T) {
	m := workspaceMachine(t)
	answered, receipt := m.calls()
	j := m.r.next(t).start()
	j.ask("q1", "May I q1?")
	if task := <-answered; task == nil {
		t.Fatal("the call has no answer")
	}
	receipt.Settle(false)
	wantStatus(t, says(t, m, "m2", "yes", byUser()), a2a.TaskStateInputRequired, notTaken, "May I q1?")
	j.answer("done")
}

// TestToldBeforeALostQuestion: a word that was on its way for what was told comes right behind the question,
// which comes late.
func TestToldBeforeALostQuestion(t *testing.T) {
	synctest.Test(t, toldBeforeALostQuestion)
}

func toldBeforeALostQuestion(t *testing.T) {
	m := workspaceMachine(t)
	answered, receipt := m.calls()
	j := m.r.next(t).start()
	synctest.Wait() // before that the engine has no such task
	m.e.SaidToUser()
	j.ask("q1", "May I q1?")
	asks := (<-answered).Status.Message.ID
	receipt.Settle(false)
	time.Sleep(time.Minute) // the platform is away
	m.e.Telling("", asks, tasks.Sends)
	m.e.Telling("", asks, tasks.Arrived)
	wantStatus(t, says(t, m, "m2", "yes", byUser()), a2a.TaskStateInputRequired, notTaken, "May I q1?")
	j.answer("done")
}

// A hurried journal is one that was written while the clock was an hour ahead.
type hurried struct{ tasks.Journal }

func (j hurried) Unfinished(ctx context.Context) ([]store.Pending, error) {
	all, err := j.Journal.Unfinished(ctx)
	for _, pending := range all {
		for i := range pending.Questions {
			pending.Questions[i].Asked = pending.Questions[i].Asked.Add(time.Hour)
		}
	}
	return all, err
}

// TestQuestionOfAClockThatWasPutBack: words count once it was posed again.
func TestQuestionOfAClockThatWasPutBack(t *testing.T) {
	m := workspaceMachine(t)
	says(t, m, "m1", "hi", byUser())
	m.r.next(t).start().ask("q1", "May I q1?")
	m.change = append(m.change, func(c *tasks.Config) { c.Journal = hurried{c.Journal} })
	m.restart()
	wantStatus(t, says(t, m, "m2", "yes", byUser()), a2a.TaskStateInputRequired, notTaken, "May I q1?")
	says(t, m, "m3", "yes", byUser())
	if got := m.r.next(t).prompt(); !strings.Contains(got, "May I q1?") {
		t.Errorf("the new turn is given %q", got)
	}
}
