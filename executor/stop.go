package executor

import (
	"context"
	"errors"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// terminalPoll is how often the end of a terminated command is looked for.
const terminalPoll = 20 * time.Millisecond

// end is the first rung of the ladder: codex is asked to interrupt the turn.
// A timer first looks whether the turn has ended unseen.
func (t *turn) end(cause error) *Ended {
	if t.stopping != nil {
		return nil
	}
	if timer, ok := errors.AsType[wake](cause); ok {
		if end := t.reconcile(); end != nil {
			return end
		}
		t.e.log.Warn("a timer ends a turn", "timer", string(timer), "turn_id", t.id, "thread_id", t.c.threadID)
	}
	t.stopping = cause
	t.attention.after(0, timerIdle)
	t.attention.after(0, timerItem)
	t.attention.after(t.e.cfg.Grace, timerGrace)
	err := t.interrupt(t.id)
	if found, ok := appserver.StaleTurn(err); ok {
		err = t.interrupt(found) // one turn at a time: whatever runs on this thread is ours
	}
	if appserver.IsNoActiveTurn(err) {
		return t.reconcile() // ended already, or turn/completed is on its way
	}
	if err != nil {
		t.e.log.Warn("interrupting a turn failed", "turn_id", t.id, "err", err)
	}
	return nil
}

func (t *turn) interrupt(turnID string) error {
	ctx, cancel := t.callContext()
	defer cancel()
	return t.on.TurnInterrupt(ctx, t.c.threadID, turnID)
}

// ignored is the last rung: codex did not end the turn in its grace period, so
// the child is restarted. Its end is then seen like any other death.
func (t *turn) ignored() *Ended {
	if end := t.reconcile(); end != nil {
		return end
	}
	t.e.log.Warn("codex did not end a turn and is restarted", "turn_id", t.id, "thread_id", t.c.threadID)
	t.on.restart("interrupt ignored")
	return nil
}

// endCommands terminates the commands that this turn left running and waits
// until they are gone: an interrupted turn leaves them behind. Where that does
// not work the child is restarted, which takes them with it.
func (t *turn) endCommands() {
	ctx, cancel := t.callContext()
	defer cancel()
	for {
		left, err := t.commands(ctx)
		if err == nil && len(left) == 0 {
			return
		}
		for _, terminal := range left {
			if _, stopErr := t.on.TerminateTerminal(ctx, t.c.threadID, terminal.ProcessID); stopErr != nil {
				err = stopErr
			}
		}
		if err != nil || !wait(ctx, terminalPoll) {
			t.e.log.Warn("a command of an ended turn would not stop, codex is restarted", "turn_id", t.id, "err", err)
			t.on.restart("command would not stop")
			<-t.on.Done()
			return
		}
	}
}

// commands lists the background terminals that this turn opened.
func (t *turn) commands(ctx context.Context) ([]appserver.BackgroundTerminal, error) {
	all, err := t.on.BackgroundTerminals(ctx, t.c.threadID)
	var ours []appserver.BackgroundTerminal
	for _, terminal := range all {
		if t.record.opened(terminal.ItemID) {
			ours = append(ours, terminal)
		}
	}
	return ours, err
}

// turns reads the newest turns of the thread with all their items.
func (t *turn) turns() ([]appserver.Turn, error) {
	ctx, cancel := t.callContext()
	defer cancel()
	return t.on.TurnsList(ctx, t.c.threadID, 3, true)
}

// callContext bounds a call that must be made although the job was canceled.
func (t *turn) callContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), t.e.cfg.Grace)
}

// wait reports whether d passed before ctx ended.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
