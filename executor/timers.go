package executor

import (
	"fmt"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/alarm"
)

// Timers say when a turn takes too long. Those of silence count from its last sign of life, that of the turn
// all the time in which it does not wait for answers. They begin with the first sign of life. Their methods may be
// called concurrently.
type Timers struct {
	cfg  *Config
	late func(*Timeout)

	mu        sync.Mutex    // guards the fields below
	left      time.Duration // of the turn
	since     time.Time     // it has run since; zero while it waits for answers
	silence   Timeout       // what becomes of a turn that shows no further sign of life
	due       time.Time     // when that is; zero for never
	ofTurn    *alarm.Alarm
	ofSilence *alarm.Alarm
}

// A Timeout is why a turn is ended that has taken too long.
type Timeout struct {
	Timer string        // as [agent.Failure.Timer]
	After time.Duration // its length
}

const timerTurn, timerIdle, timerItem = "turn", "idle", "item"

// newTimers returns timers that call late when one of them has run out.
func newTimers(cfg *Config, late func(*Timeout)) *Timers {
	t := &Timers{cfg: cfg, late: late, left: cfg.TurnTimeout}
	t.ofTurn, t.ofSilence = alarm.New(t.turnIsOver), alarm.New(t.silenceIsOver)
	return t
}

// Alive notes a sign of life, and whether a tool runs.
func (t *Timers) Alive(tool bool) {
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.since.IsZero() {
		t.since = now
		if t.cfg.TurnTimeout > 0 {
			t.ofTurn.After(max(t.left, time.Millisecond))
		}
	}
	t.silence = Timeout{timerIdle, t.cfg.IdleTimeout}
	if tool {
		t.silence = Timeout{timerItem, t.cfg.ItemTimeout}
	}
	t.due = time.Time{}
	if t.silence.After > 0 {
		t.due = now.Add(t.silence.After)
	}
	t.ofSilence.At(t.due)
}

// Rest stops the timers until the next sign of life: the turn waits for answers.
func (t *Timers) Rest() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.since.IsZero() {
		t.left -= time.Since(t.since)
	}
	t.since, t.due = time.Time{}, time.Time{}
	t.ofTurn.After(0)
	t.ofSilence.After(0)
}

// Stop ends the timers: the turn is being ended, or has.
func (t *Timers) Stop() {
	t.ofTurn.Stop()
	t.ofSilence.Stop()
}

// turnIsOver is called when the alarm of the turn rings.
func (t *Timers) turnIsOver() {
	t.mu.Lock()
	rests := t.since.IsZero()
	t.mu.Unlock()
	if !rests {
		t.late(&Timeout{timerTurn, t.cfg.TurnTimeout})
	}
}

// silenceIsOver is called when the alarm of silence rings. A sign of life, or a question, may come before it just then.
func (t *Timers) silenceIsOver() {
	t.mu.Lock()
	silence, due := t.silence, t.due
	t.mu.Unlock()
	if !due.IsZero() && !time.Now().Before(due) {
		t.late(&silence)
	}
}

func (t *Timeout) Error() string {
	switch t.Timer {
	case timerIdle:
		return fmt.Sprintf("codex showed no sign of life for %s and was stopped (CODEX_IDLE_TIMEOUT)", t.After)
	case timerItem:
		return fmt.Sprintf("a tool showed no sign of life for %s and was stopped (CODEX_ITEM_TIMEOUT)", t.After)
	}
	return fmt.Sprintf("the turn took longer than %s and was stopped (CODEX_TURN_TIMEOUT)", t.After)
}

func (t *Timeout) failure() *agent.Failure {
	return &agent.Failure{Kind: agent.FailTimeout, Timer: t.Timer, After: t.After, Message: t.Error()}
}
