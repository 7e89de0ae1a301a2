package activity

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/presence"
	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// beats is a platform that keeps the last heartbeat.
type beats struct {
	mu   sync.Mutex
	last platform.Beat
}

func (*beats) Register(context.Context, platform.Registration) (platform.Registered, error) {
	return platform.Registered{}, nil
}

func (b *beats) Heartbeat(_ context.Context, beat platform.Beat) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = beat
	return nil
}

func (*beats) State(context.Context) (platform.State, error) { return platform.State{}, nil }

func (*beats) Workspace(context.Context) (platform.Info, error) { return platform.Info{}, nil }

// told lets the platform be told, and returns what it knows then.
func (b *beats) told() platform.Beat {
	time.Sleep(time.Second)
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last
}

// TestActiveTasks: hibernation and the platform's queue go by the count, so it is right
// whatever becomes of a message, and never stays above zero.
func TestActiveTasks(t *testing.T) {
	failed := &agent.Failure{Kind: agent.FailModel, Message: "the model broke off"}
	shutdown := &agent.Failure{Kind: agent.FailShutdown, Message: "stopping"}
	steps := []struct {
		event  agent.Event
		active int
	}{
		{agent.Started{}, 1}, {agent.Paused{Kind: agent.FailAuth}, 0}, {agent.Resumed{}, 1},
		{agent.Steered{}, 0}, {agent.Unsteered{}, 1}, {agent.Question{}, 1}, {agent.Answered{}, 1},
	}
	ends := map[string]struct {
		end  agent.Ended
		rate float64
	}{
		"completed":   {agent.Ended{Outcome: agent.Completed}, 0},
		"canceled":    {agent.Ended{Outcome: agent.Canceled}, 0},
		"failed":      {agent.Ended{Outcome: agent.Failed, Failure: failed}, 1},
		"interrupted": {agent.Ended{Outcome: agent.Interrupted}, 1},
		"rejected":    {agent.Ended{Outcome: agent.Rejected, Failure: failed}, 0},
		"stopped":     {agent.Ended{Outcome: agent.Interrupted, Failure: shutdown}, 0},
	}
	for name, c := range ends {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				told := &beats{}
				p := presence.New(presence.Config{Platform: told, Card: func() any { return nil }})
				ctx, cancel := context.WithCancel(t.Context())
				defer synctest.Wait()
				defer cancel()
				go func() { _ = p.Run(ctx) }()
				var seen []agent.Event
				worked := 0
				counted := Counted{Presence: p, Worked: func() { worked++ }}
				job := executor.Job{ID: "j", Input: []agent.Input{agent.Text("do it")}}
				observe, _ := counted.Watch(job, "", func(e agent.Event) { seen = append(seen, e) })
				for _, step := range steps {
					observe(step.event)
					if got := told.told(); got.ActiveTasks != step.active || got.ErrorRate != 0 {
						t.Errorf("after %T the platform is told %+v, want %d active", step.event, got, step.active)
					}
				}
				observe(c.end)
				if got := told.told(); got.ActiveTasks != 0 || got.ErrorRate != c.rate || got.CurrentTask != "" {
					t.Errorf("at the end the platform is told %+v, want the rate %v", got, c.rate)
				}
				if (worked == 1) != (name == "completed") {
					t.Errorf("said to work %d times", worked)
				}
				if len(seen) != len(steps)+1 {
					t.Errorf("the task has seen %d events", len(seen))
				}
			})
		})
	}
}

// TestRefusedJobIsNotActive: one that is not accepted is not observed, and has no end.
func TestRefusedJobIsNotActive(t *testing.T) {
	p := presence.New(presence.Config{Platform: &beats{}, Card: func() any { return nil }})
	e := executor.New(executor.Config{}, codex.New(codex.Config{}))
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	counted, one, two := Counted{Presence: p}, executor.Job{ID: "j"}, executor.Job{ID: "k"}
	observe, refused := counted.Watch(one, "", func(agent.Event) {})
	_, err := e.Submit(one, observe)
	refused(err)
	observe, refused = counted.Watch(two, "other", func(agent.Event) {})
	steerErr := e.Steer("other", two, observe)
	if refused(steerErr); err == nil || steerErr == nil || p.Active() != 0 {
		t.Errorf("%v, %v: %d active", err, steerErr, p.Active())
	}
}

// TestLabel: the platform shows what a job is about in the words of its sender, but for another
// agent's, which would stand there as this one's.
func TestLabel(t *testing.T) {
	for want, input := range map[string][]agent.Input{
		"do it":                  {{Type: "localImage", Path: "/a.png"}, agent.Text("do it")},
		"a message without text": {{Type: "localImage", Path: "/a.png"}},
	} {
		if got := label(executor.Job{Input: input}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := label(executor.Job{Input: input, Peer: true}); got != "a message of another agent" {
			t.Errorf("of another agent: %q", got)
		}
	}
}
