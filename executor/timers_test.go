package executor_test

import (
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// TestTimers end a turn that is silent, or takes too long, and not one that waits for an answer.
func TestTimers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		turn, idle, item time.Duration
		does             play
		asks             bool
		timer            string        // that ends the turn; empty if it answers
		after            time.Duration // in which it has ended, an hour of waiting for an answer not counted
	}{
		"none":                            {0, 0, 0, play{lasts(time.Hour)}, false, "", time.Hour},
		"idle":                            {0, time.Minute, time.Second, play{hangs}, false, "idle", time.Minute},
		"signs of life":                   {0, time.Minute, 0, play{lasts(50 * time.Second), speaks, lasts(50 * time.Second), speaks, hangs}, false, "idle", 160 * time.Second},
		"a tool":                          {0, time.Second, time.Minute, play{works, hangs}, false, "item", time.Minute},
		"a tool that may take for ever":   {0, time.Second, 0, play{works, lasts(time.Hour)}, false, "", time.Hour},
		"a tool that has ended":           {0, time.Second, time.Minute, play{works, lasts(30 * time.Second), worked, hangs}, false, "idle", 31 * time.Second},
		"a turn that says much":           {time.Minute, 50 * time.Second, 0, play{lasts(40 * time.Second), speaks, hangs}, false, "turn", time.Minute},
		"a question":                      {2 * time.Minute, time.Minute, time.Minute, play{lasts(50 * time.Second), asks, lasts(50 * time.Second)}, true, "", 100 * time.Second},
		"a question, and silence":         {0, time.Minute, 0, play{lasts(50 * time.Second), asks, hangs}, true, "idle", 110 * time.Second},
		"a question, and much":            {time.Minute, 0, 0, play{lasts(50 * time.Second), asks, hangs}, true, "turn", time.Minute},
		"a tool, a question, and silence": {0, time.Second, time.Minute, play{works, asks, hangs}, true, "item", time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			simulated(t, func(cfg *executor.Config, _ *scripted) {
				cfg.TurnTimeout, cfg.IdleTimeout, cfg.ItemTimeout = c.turn, c.idle, c.item
			}, func(t *testing.T, e *rig) {
				e.agent.script("j1", c.does)
				begun := time.Now()
				w := e.submit("j1", "one")
				if c.asks {
					q := has[agent.Question](w, 1)
					time.Sleep(time.Hour)
					begun = begun.Add(time.Hour)
					e.reply("j1", q, "yes")
				}
				if c.timer == "" {
					w.completes()
				} else if f := w.ends(agent.Failed, agent.FailTimeout).Failure; f.Timer != c.timer {
					t.Errorf("the %s timer ends it (%s), want %s", f.Timer, f.Message, c.timer)
				}
				if took := time.Since(begun); took != c.after {
					t.Errorf("it takes %v, want %v", took, c.after)
				}
				e.submit("j2", "one").completes()
			})
		})
	}
}
