package codex_test

import (
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// The tests in this file run on the real codex and a provider that refuses one of its
// models, which a message names.

const rareModel = "rare-model"

// rarely refuses what is asked of the rare model only.
func rarely(refuse func(*fakemodel.Turn)) func(*fakemodel.Turn) {
	return func(t *fakemodel.Turn) {
		if t.Model == rareModel {
			refuse(t)
			return
		}
		fakemodel.Keywords(t)
	}
}

// rare is a job that names the rare model.
func rare(id, text string) executor.Job {
	return executor.Job{ID: id, Context: id, Input: []agent.Input{agent.Text(text)}, Options: agent.Options{Model: rareModel}}
}

func submitJob(t *testing.T, e *rig, j executor.Job) *witness {
	t.Helper()
	w := &witness{ended: make(chan agent.Ended, 1)}
	if _, err := e.Submit(j, w.observe); err != nil {
		t.Fatalf("Submit %s: %v", j.ID, err)
	}
	return w
}

func wantOpen(t *testing.T, e *rig) {
	t.Helper()
	if held, h := e.Held(), e.Health().Hold; held != "" || h != nil {
		t.Errorf("others are held: %q, %+v", held, h)
	}
}

// TestLimitOfOneModel fails the message that has named the model, and no other.
func TestLimitOfOneModel(t *testing.T) {
	t.Parallel() // it mostly waits
	e, model, _ := onDoor(t, rarely(func(turn *fakemodel.Turn) { turn.UsageLimit(time.Hour) }), func(c *config) { c.LimitProbe = time.Hour })
	end := submitJob(t, e, rare("j1", "say one")).wait(t)
	wantEnd(t, end, agent.Failed, agent.FailLimit)
	if !strings.Contains(end.Failure.Message, "the model that the message names") {
		t.Errorf("the sender is told: %s", end.Failure.Message)
	}
	wantOpen(t, e)
	wantEnd(t, submit(t, e, "j2", "two", "say two").wait(t), agent.Completed, "")
	wantEnd(t, submit(t, e, "j3", "j1", "say three").wait(t), agent.Completed, "")
	wantOpen(t, e)
	wantAsked(t, model, "say one", 1, 1)
}

// TestLimitOfAModelBefore: where the turn before has named a model, codex may ask that once
// more, to compact. What refuses then holds no other, until the model of all refuses, too.
func TestLimitOfAModelBefore(t *testing.T) {
	longtest.Mark(t)
	t.Parallel() // it mostly waits
	for name, between := range map[string]bool{"right after": false, "a turn later": true} {
		t.Run(name, func(t *testing.T) {
			e, _, _ := onDoor(t, func(turn *fakemodel.Turn) {
				if strings.Contains(turn.LastUserText(), "say three") {
					turn.UsageLimit(time.Hour)
					return
				}
				fakemodel.Keywords(turn)
			}, func(c *config) { c.LimitProbe = time.Hour })
			wantEnd(t, submitJob(t, e, rare("j1", "say one")).wait(t), agent.Completed, "")
			if between {
				wantEnd(t, submit(t, e, "j2", "j1", "say two").wait(t), agent.Completed, "")
			}
			wantEnd(t, submit(t, e, "j3", "j1", "say three").wait(t), agent.Failed, agent.FailLimit)
			if between {
				if e.Held() == "" {
					t.Error("the model of all has refused, and nobody is held")
				}
				return
			}
			wantOpen(t, e)
			wantEnd(t, submit(t, e, "j4", "four", "say four").wait(t), agent.Completed, "")
		})
	}
}
