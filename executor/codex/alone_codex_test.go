package codex_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
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
	for name, refuse := range map[string]func(*fakemodel.Turn){
		"429": tooMany,
		"far-off": func(turn *fakemodel.Turn) {
			turn.FailStream("rate_limit_exceeded", "Rate limit reached for rare-model. Please try again in 7200s.")
		},
		"usage": func(turn *fakemodel.Turn) { turn.UsageLimit(time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			e, model, _ := onDoor(t, rarely(refuse), func(c *config) { c.LimitProbe = time.Hour })
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
		})
	}
}

// TestLimitOfAModelBefore: where the turn before has named a model, codex may ask that once
// more, to compact. What refuses then holds no other, until the model of all refuses, too.
func TestLimitOfAModelBefore(t *testing.T) {
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

// TestCredentialForOne has others go on while it is found out whether the credential is
// refused to them, too.
func TestCredentialForOne(t *testing.T) {
	t.Parallel() // it mostly waits
	for name, refuse := range map[string]func(*fakemodel.Turn) bool{
		"model": func(turn *fakemodel.Turn) bool {
			return turn.Model == rareModel && refuseWith(turn, http.StatusUnauthorized)
		},
		"message": func(turn *fakemodel.Turn) bool {
			return strings.Contains(turn.LastUserText(), "forbidden") && refuseWith(turn, http.StatusForbidden)
		},
	} {
		t.Run(name, func(t *testing.T) {
			probes, answer := atomic.Int32{}, make(chan struct{})
			e, model, _ := onDoor(t, func(turn *fakemodel.Turn) {
				if refuse(turn) {
					return
				}
				if strings.Contains(turn.LastUserText(), "the word OK") {
					probes.Add(1)
					select {
					case <-answer:
					case <-turn.Context().Done():
					}
				}
				fakemodel.Keywords(turn)
			}, func(c *config) { c.LoginProbe, c.MaxTurns = time.Hour, 1 })
			job := rare("j1", "say forbidden")
			if name == "message" {
				job.Options = agent.Options{}
			}
			first := submitJob(t, e, job)
			job.ID, job.Context = "j2", "two"
			second := submitJob(t, e, job)
			eventually(t, "a probe", func() bool { return probes.Load() > 0 })
			wantEnd(t, submit(t, e, "j3", "three", "say three").wait(t), agent.Completed, "")
			wantOpen(t, e)
			close(answer)
			for _, w := range []*witness{first, second} {
				wantEnd(t, w.wait(t), agent.Failed, agent.FailAuth)
				if held := seen[agent.Paused](w); len(held) != 0 {
					t.Errorf("held = %+v", held)
				}
			}
			wantOpen(t, e)
			wantAsked(t, model, "say forbidden", 4, 4)
		})
	}
}

func refuseWith(t *fakemodel.Turn, status int) bool {
	t.Fail(status, `{"error":{"message":"not for you"}}`)
	return true
}

// TestCredentialForAllModels is refused where a message that names a model meets it first.
func TestCredentialForAllModels(t *testing.T) {
	t.Parallel() // it mostly waits
	e, _, d := onDoor(t, unauthorized, nil)
	w := submitJob(t, e, rare("j1", "say one"))
	if held := heldWith(t, w); held.Kind != agent.FailAuth {
		t.Errorf("held = %+v", held)
	}
	other := submit(t, e, "j2", "two", "say two")
	heldWith(t, other)
	d.shut.Store(false)
	wantEnd(t, w.wait(t), agent.Completed, "")
	wantEnd(t, other.wait(t), agent.Completed, "")
}

// TestUsageLimitOfAllModels holds everybody, where a message that names a model meets it.
func TestUsageLimitOfAllModels(t *testing.T) {
	t.Parallel() // it mostly waits
	e, model, _ := onDoor(t, func(turn *fakemodel.Turn) { turn.UsageLimit(time.Hour) }, nil)
	wantEnd(t, submitJob(t, e, rare("j1", "say one")).wait(t), agent.Failed, agent.FailLimit)
	eventually(t, "all to be held", func() bool { return e.Held() != "" })
	wantEnd(t, submit(t, e, "j2", "two", "say two").wait(t), agent.Failed, agent.FailLimit)
	wantAsked(t, model, "say two", 0, 0)
}

// TestPromisedToWaitAlone has a message from before a restart meet the limit of the model
// that it names: it waits for that by itself, and not for ever.
func TestPromisedToWaitAlone(t *testing.T) {
	t.Parallel() // it mostly waits
	e, model, d := onDoor(t, rarely(tooMany), func(c *config) { c.MaxTurns = 1 })
	job := rare("j1", "say one")
	job.Accepted, job.Patient = true, true
	w := submitJob(t, e, job)
	if held := heldWith(t, w); held.Kind != agent.FailLimit {
		t.Errorf("held = %+v", held)
	}
	wantEnd(t, submit(t, e, "j2", "two", "say two").wait(t), agent.Completed, "")
	wantOpen(t, e)
	wantEnd(t, w.wait(t), agent.Failed, agent.FailLimit)
	wantAsked(t, model, "say one", 4, 4)

	job.ID, job.Context = "j3", "three"
	w = submitJob(t, e, job)
	heldWith(t, w)
	d.shut.Store(false)
	wantEnd(t, w.wait(t), agent.Completed, "")
	if told, over := seen[agent.Paused](w), seen[agent.Resumed](w); len(told) == 0 || len(told) != len(over) {
		t.Errorf("told to wait %d times, and %d times that this is over", len(told), len(over))
	}
}

// TestCancelWhileItWaitsAlone ends a message that waits for the end of a limit of its own.
func TestCancelWhileItWaitsAlone(t *testing.T) {
	t.Parallel()
	e, _, _ := onDoor(t, rarely(tooMany), func(c *config) { c.LimitProbe = time.Hour })
	job := rare("j1", "say one")
	job.Accepted, job.Patient = true, true
	w := submitJob(t, e, job)
	heldWith(t, w)
	next := submit(t, e, "j2", "j1", "say two")
	if err := e.Cancel(t.Context(), "j1"); err != nil {
		t.Fatal(err)
	}
	wantEnd(t, w.wait(t), agent.Canceled, "")
	wantEnd(t, next.wait(t), agent.Completed, "")
}
