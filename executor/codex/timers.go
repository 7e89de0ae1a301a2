package codex

import (
	"fmt"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// A wake is a cause that a turn raises for itself, and the name of the timer
// that raises it. While the turn runs, timerTurn is armed, timerIdle or timerItem
// from the last sign of life, and timerGap once the thread idles. The first three
// rest while codex waits for an answer.
// Once codex was asked to end the turn, timerAgain and timerGrace are, and the
// two of silence are not.
type wake string

func (w wake) Error() string { return string(w) }

const (
	timerTurn  wake = "turn"  // the whole turn took too long
	timerIdle  wake = "idle"  // no sign of life while no tool ran
	timerItem  wake = "item"  // no sign of life while a tool ran
	timerGap   wake = "gap"   // the thread is idle, but the turn's end was not seen
	timerGrace wake = "grace" // codex was asked to end the turn and has not
	timerAgain wake = "again" // it is time to ask codex once more
	timerLimit wake = "limit" // a rate limit lasts

	wakeQuestion wake = "question" // codex asks something, or needs an answer no longer
)

// gapWait is how long the end of a turn may lag behind its thread's idling:
// turn/completed gets lost in the field (openai/codex 35810, 28495, 35847).
const gapWait = time.Second

// alive restarts the timer of silence: the item timer while a tool runs, the
// idle timer otherwise. Any notification of the thread is a sign of life.
func (t *turn) alive() {
	if t.stopping != nil {
		return
	}
	if t.yield() {
		t.rest()
		return
	}
	if left, wound := t.clock.wind(time.Now()); wound {
		t.attention.after(left, timerTurn)
	}
	idle, item := t.d.cfg.IdleTimeout, time.Duration(0)
	if t.record.ToolsOpen() {
		idle, item = 0, t.d.cfg.ItemTimeout
	}
	t.attention.after(idle, timerIdle)
	t.attention.after(item, timerItem)
}

// timeout describes the failure of a turn that a timer ended.
func (t *turn) timeout(timer wake) *agent.Failure {
	f := &agent.Failure{Kind: agent.FailTimeout, Timer: string(timer)}
	switch timer {
	case timerIdle:
		f.After = t.d.cfg.IdleTimeout
		f.Message = fmt.Sprintf("codex showed no sign of life for %s and was stopped (CODEX_IDLE_TIMEOUT)", f.After)
	case timerItem:
		f.After = t.d.cfg.ItemTimeout
		f.Message = fmt.Sprintf("a tool showed no sign of life for %s and was stopped (CODEX_ITEM_TIMEOUT)", f.After)
	default:
		f.After = t.d.cfg.TurnTimeout
		f.Message = fmt.Sprintf("the turn took longer than %s and was stopped (CODEX_TURN_TIMEOUT)", f.After)
	}
	return f
}

// A clock measures how long a turn has run, without the time in which codex has
// waited for answers. The zero value is of a turn that may run for ever.
type clock struct {
	on    bool
	left  time.Duration
	since time.Time // running since; zero while it rests
}

// wind starts a clock that rests. If it does, it returns what is left.
func (c *clock) wind(now time.Time) (left time.Duration, wound bool) {
	if !c.on || !c.since.IsZero() {
		return 0, false
	}
	c.since = now
	return max(c.left, time.Millisecond), true
}

func (c *clock) rest(now time.Time) {
	if c.since.IsZero() {
		return
	}
	c.left -= now.Sub(c.since)
	c.since = time.Time{}
}

// rest stops the turn's timers while codex waits for an answer.
func (t *turn) rest() {
	t.clock.rest(time.Now())
	t.attention.after(0, timerTurn)
	t.attention.after(0, timerIdle)
	t.attention.after(0, timerItem)
}

// yield leaves the slot of the turn to others while it does nothing but wait for answers,
// and reports whether codex waits for one. It shows each command, change and call of a
// tool before it asks about it, and runs those that it need not ask about meanwhile (seen
// on 0.169.0): more tools than questions are some that run. Input that the model asks for,
// and what a subagent asks, has no such item; the turn is taken for idle then although
// one other tool runs.
func (t *turn) yield() (waits bool) {
	open, given := t.inquiry.Standing()
	switch {
	case given > 0: // handAnswers sees to it
	case open > 0 && len(t.record.Open) <= open:
		t.To.Park()
	case !t.inquiry.CalledOff():
		t.To.Seize() // codex goes on, with our answer or without
	}
	return open+given > 0
}
