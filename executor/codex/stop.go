package codex

import (
	"context"
	"errors"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
)

// stopFor is the first rung of the ladder: codex is asked to interrupt the turn.
// A timer first looks whether the turn has ended unseen.
func (t *turn) stopFor(cause error) *agent.Ended {
	if t.stopping != nil {
		return nil
	}
	if late, ok := errors.AsType[*executor.Timeout](cause); ok {
		if end := t.reconcile(); end != nil {
			return end
		}
		t.d.log.Warn("a timer ends a turn", "timer", late.Timer, "turn_id", t.id, "thread_id", t.c.threadID)
	}
	t.stopping, t.severed = cause, t.record.ToolsOpen()
	t.inquiry.Shut()
	t.To.Ending()
	t.timers.Stop()
	t.attention.after(t.d.cfg.Grace, timerGrace)
	return t.ask()
}

// askEvery is how often codex is asked again to end a turn. An interrupt that
// comes within some milliseconds of turn/start is lost (seen on 0.169.0).
const askEvery = 100 * time.Millisecond

// ask asks codex to end the turn.
func (t *turn) ask() *agent.Ended {
	t.attention.after(askEvery, timerAgain)
	err := t.interrupt(t.id)
	if found, ok := appserver.StaleTurn(err); ok {
		err = t.interrupt(found) // one turn at a time: whatever runs on this thread is ours
	}
	switch {
	case appserver.IsNoActiveTurn(err):
		return t.reconcile() // ended already, or not begun
	case errors.Is(err, context.DeadlineExceeded):
		t.d.log.Warn("codex does not answer and is restarted", "turn_id", t.id, "thread_id", t.c.threadID)
		t.on.Restart(child.ReasonDeaf)
	case err != nil:
		t.d.log.Warn("interrupting a turn failed", "turn_id", t.id, "err", err)
	}
	return nil
}

func (t *turn) interrupt(turnID string) error {
	ctx, cancel := t.callContext()
	defer cancel()
	return t.on.TurnInterrupt(ctx, t.c.threadID, turnID)
}

// ignored is the last rung: codex did not end the turn in its grace period, so
// the child is restarted. Its end is then seen like any other death. A turn that is said
// to have ended is waited for first: a restart would cut those of others.
func (t *turn) ignored() *agent.Ended {
	if end := t.reconcile(); end != nil {
		return end
	}
	if left := t.doubtLeft(); left > 0 {
		t.attention.after(left, timerGrace)
		return nil
	}
	t.d.log.Warn("codex did not end a turn and is restarted", "turn_id", t.id, "thread_id", t.c.threadID)
	t.on.Restart("interrupt ignored")
	return nil
}
