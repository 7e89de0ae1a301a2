package codex

import (
	"errors"
	"fmt"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
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

// decide acts on what needs attention. It returns the turn's end if that has
// come, else nil.
func (t *turn) decide(causes []error) *agent.Ended {
	for _, cause := range causes {
		var end *agent.Ended
		switch {
		case errors.Is(cause, wakeQuestion):
			end = t.tellQuestions()
		case errors.Is(cause, timerGap):
			end = t.lost()
		case errors.Is(cause, timerAgain):
			end = t.ask()
		case errors.Is(cause, timerGrace):
			end = t.ignored()
		case errors.Is(cause, timerLimit):
			if t.limited != nil {
				end = t.stopFor(t.limited)
			}
		default:
			end = t.stopFor(cause)
		}
		if end != nil {
			return end
		}
	}
	return nil
}

// lost looks for an end that was not told. While the thread idles, or the turn is in
// doubt, it looks again: the history may lag behind, and the look may fail.
func (t *turn) lost() *agent.Ended {
	end := t.reconcile()
	switch {
	case end != nil:
	case !t.doubted.IsZero():
		t.attention.after(doubtTime, timerGap)
	case t.idle:
		t.attention.after(5*gapWait, timerGap)
	}
	return end
}

// doubtTime is for how long codex has to call a turn interrupted, without having told its
// end, until it is believed. Between the answer of turn/start and the begin of its work a
// turn reads interrupted, too (seen on 0.169.0: some milliseconds, a second on a busy
// machine), and whoever let go of it then would have it run unseen.
const doubtTime = 3 * time.Second

// believes reports whether a turn stands as its history says.
func (t *turn) believes(status appserver.TurnStatus) bool {
	if status != appserver.TurnInterrupted {
		t.doubted = time.Time{}
	} else if t.doubted.IsZero() {
		t.doubted = time.Now()
	}
	return t.doubtLeft() <= 0
}

// doubtLeft is for how long the turn is still in doubt; zero or less if it is not.
func (t *turn) doubtLeft() time.Duration {
	if t.doubted.IsZero() {
		return 0
	}
	return doubtTime - time.Since(t.doubted)
}

// reconcile asks codex how the turn stands, and settles it if it has ended.
func (t *turn) reconcile() *agent.Ended {
	turns, err := t.turns()
	if err != nil {
		t.d.log.Warn("the turn could not be read", "turn_id", t.id, "err", err)
		return nil
	}
	for _, turn := range turns {
		if turn.ID == t.id && t.believes(turn.Status) && turn.Status != appserver.TurnInProgress {
			t.d.log.Info("the end of a turn was read from its history", "turn_id", t.id, "status", turn.Status)
			return t.settle(turn)
		}
	}
	return nil
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
