package executor

import (
	"fmt"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/alarm"
)

// Timers end a turn that takes too long. Those of silence count from its last sign of life, that of the turn
// all the time in which it does not wait for answers. They begin with the first sign of life. Their methods may be
// called concurrently.
type Timers struct {
	cfg  *Config
	late func(*Timeout)

	mu    sync.Mutex    // guards the fields below
	left  time.Duration // of the whole turn
	since time.Time     // it has run since; zero while it waits for answers
	tool  bool          // one runs
	whole *alarm.Alarm
	quiet *alarm.Alarm
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
	t.whole, t.quiet = alarm.New(t.wholeRings), alarm.New(t.quietRings)
	return t
}

// Alive notes a sign of life, and whether a tool runs.
func (t *Timers) Alive(tool bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tool = tool
	if t.since.IsZero() {
		t.since = time.Now()
		if t.cfg.TurnTimeout > 0 {
			t.whole.After(max(t.left, time.Millisecond))
		}
	}
	t.quiet.After(t.silenceLocked().After)
}

// Rest stops the timers until the next sign of life: the turn waits for answers.
func (t *Timers) Rest() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.since.IsZero() {
		t.left -= time.Since(t.since)
		t.since = time.Time{}
	}
	t.whole.After(0)
	t.quiet.After(0)
}

// Stop ends the timers: the turn is being ended, or has.
func (t *Timers) Stop() {
	t.whole.Stop()
	t.quiet.Stop()
}

func (t *Timers) wholeRings() { t.late(&Timeout{timerTurn, t.cfg.TurnTimeout}) }

func (t *Timers) quietRings() {
	t.mu.Lock()
	silence := t.silenceLocked()
	t.mu.Unlock()
	if silence.After > 0 {
		t.late(&silence)
	}
}

// silenceLocked is what becomes of a turn that shows no further sign of life. It may never, by a length of 0.
func (t *Timers) silenceLocked() Timeout {
	if t.tool {
		return Timeout{timerItem, t.cfg.ItemTimeout}
	}
	return Timeout{timerIdle, t.cfg.IdleTimeout}
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
