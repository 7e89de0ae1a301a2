package tasks_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// TestSaidJustBefore: words that come as a question does may be for what its own turn has said, where that
// could have been read.
func TestSaidJustBefore(t *testing.T) {
	for name, c := range map[string]struct {
		says, plans bool
		taken       func(begun, asks time.Time) time.Time // when words are written that count
		not         func(begun, asks time.Time) time.Time // that do not
	}{
		"it has said something": {
			says: true,
			not:  func(_, asks time.Time) time.Time { return asks.Add(1900 * time.Millisecond) },
		},
		"it has a plan": {
			plans: true,
			not:   func(_, asks time.Time) time.Time { return asks.Add(1900 * time.Millisecond) },
		},
		"nobody has read it": {
			says:  true,
			taken: func(begun, _ time.Time) time.Time { return begun.Add(1400 * time.Millisecond) },
		},
		"that was before": {
			says:  true,
			taken: func(_, asks time.Time) time.Time { return asks.Add(time.Minute) },
		},
		"it has said nothing": {
			taken: func(_, asks time.Time) time.Time { return asks.Add(1900 * time.Millisecond) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, task, j := askingMachine(t, time.Time{})
			begun := time.Now()
			if c.says {
				j.say("a", "Shall I mend the spelling, too?")
			}
			if c.plans {
				j.observe(agent.PlanUpdated{Explanation: "Shall I mend the spelling, too?"})
			}
			asks := time.Now()
			j.ask("q1", "May I q1?")
			when := c.taken
			if when == nil {
				when = c.not
			}
			yes := to(task, "m3", "yes")
			yes.Config.ReturnImmediately = true
			if _, err := m.e.SendMessage(tasks.WithWritten(t.Context(), when(begun, asks)), yes); err != nil {
				t.Fatal(err)
			}
			if got := m.asker.answered(); (got != "") != (c.taken != nil) {
				t.Errorf("answered %q", got)
			}
			if c.taken == nil { // but what was posed again is
				yes.Message = to(task, "m4", "yes").Message
				send(t, m.e, yes)
				if got := m.asker.answered(); got == "" {
					t.Error("the answer to what was posed again does not count")
				}
			}
			j.answer("done")
		})
	}
}

// TestToldBesideTwoQuestions: that a turn says something between two questions takes nothing from what the
// user was told before the first.
func TestToldBesideTwoQuestions(t *testing.T) {
	for name, passes := range map[string]time.Duration{"at once": 0, "late": time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { toldBesideTwoQuestions(t, passes) })
		})
	}
}

func toldBesideTwoQuestions(t *testing.T, passes time.Duration) {
	m := workspaceMachine(t)
	says(t, m, "m1", "hi", byUser())
	j := m.r.next(t).start()
	m.e.SaidToUser()
	asks := time.Now()
	j.ask("q1", "May I q1?")
	time.Sleep(passes)
	j.say("a", "And a word.")
	j.ask("q2", "May I q2?")
	yes := request("m3", "", "yes")
	yes.Metadata, yes.Config.ReturnImmediately = byUser(), true
	if _, err := m.e.SendMessage(tasks.WithWritten(t.Context(), asks.Add(time.Second)), yes); err != nil {
		t.Fatal(err)
	}
	if got := m.asker.answered(); got != "" {
		t.Errorf("answered %q", got)
	}
	j.answer("done")
}
