package codex

import (
	"context"
	"errors"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// read reads the events of the turn until it has ended. It returns a [cutError] if
// the child died and it is to be found out what became of the turn.
func (t *turn) read() (end *agent.Ended, err error) {
	defer func() { t.d.endBriefing(t.c, err) }()
	defer t.attention.close()
	defer t.c.remember(&t.record)
	defer t.endQuestions()
	defer t.tellCalls()
	over := t.watchMachine()
	defer func() { over(end) }()
	stop := context.AfterFunc(t.Ctx, func() { t.attention.raise(context.Cause(t.Ctx)) })
	defer stop()
	t.timers = t.To.Timers(func(late *executor.Timeout) { t.attention.raise(late) })
	defer t.timers.Stop()
	t.alive()
	for {
		note, err := t.c.events.Next(t.attention.context())
		switch {
		case err == nil:
			end = t.handle(note)
		case errors.Is(err, context.Canceled):
			end = t.decide(t.attention.take())
		default: // the child is gone, and all that it said has been read
			if end = t.died(err); end == nil {
				t.withdraw("codex has ended before it had the answer.")
				return nil, cutError{t.on.Settled(err)}
			}
		}
		if end != nil {
			return t.lostOr(end)
		}
	}
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
