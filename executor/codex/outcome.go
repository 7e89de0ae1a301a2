package codex

import (
	"errors"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/rollout"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

// settle ends the turn from its final state, as codex told or as the history
// has it.
func (t *turn) settle(final appserver.Turn) *agent.Ended {
	if t.on.Proven() {
		t.d.credential.Proven(t.on)
	}
	t.c.history = true
	t.repair(final)
	t.askPlace(final)
	if t.stopping != nil || final.Status == appserver.TurnInterrupted {
		t.endCommands()
	}
	end := t.summary()
	end.Tools = t.record.Tools() || final.Status != appserver.TurnCompleted && t.HasWorked()
	switch {
	case final.Status == appserver.TurnCompleted && !t.isNone() && !t.isSevered():
		end.Outcome = agent.Completed // also when a cancel came too late
		t.passOver()
	case t.isSevered():
		end.Outcome, end.Failure = agent.Interrupted, t.lostFailure()
	case t.stopping != nil && t.lostMachine() == nil: // see lostOr
		t.fillStopped(&end)
	case final.Status == appserver.TurnInterrupted && t.inquiry.CalledOff():
		end.Outcome = agent.Canceled
	case final.Status == appserver.TurnFailed:
		end.Outcome, end.Failure = agent.Failed, t.failed(final.Error, end.Tools)
	default:
		end.Outcome = agent.Interrupted
		end.Failure = &agent.Failure{Kind: agent.FailModel, Message: "codex ended the turn before it was finished"}
	}
	return &end
}

// passOver tells of the messages that the turn, which has completed, has not read. The history does not say it: a model
// may have read one and answer with nothing, or by a call that is no item. The thread's file does; where it cannot be
// read, they were.
func (t *turn) passOver() {
	for _, id := range t.unheeded {
		if trace := t.endedTrace(id); trace.Unread {
			t.d.log.Info("a turn has completed without reading a message that was added to it", "turn_id", t.id, "message", id)
			t.To.PassedOver(id)
		}
	}
}

// endedTrace reads what stands in the thread's file of a message, when the turn's end stands there. codex says it
// before it has written it down.
func (t *turn) endedTrace(clientID string) rollout.Trace {
	ctx, cancel := t.callContext()
	defer cancel()
	for {
		trace, err := t.d.cfg.ReadTrace(t.c.rollout, clientID)
		if err != nil {
			t.d.log.Warn("whether a turn has read what was added to it is not known", "turn_id", t.id, "err", err)
		}
		if err != nil || trace.Ended || !sleep.For(ctx, 20*time.Millisecond) {
			return trace
		}
	}
}

// isNone reports whether the turn fails also where it has ended before it was ended.
func (t *turn) isNone() bool {
	return errors.Is(t.stopping, errTwice) || errors.Is(t.stopping, errUnbidden)
}

// repair takes the agent messages of the final items over. The summary in
// turn/completed holds them all unless the turn was interrupted; after a gap
// the history is asked.
func (t *turn) repair(final appserver.Turn) {
	if t.record.Gap {
		turns, err := t.turns()
		if err != nil {
			t.d.log.Warn("a turn with a gap could not be repaired", "turn_id", t.id, "err", err)
		}
		for _, turn := range turns {
			if turn.ID == t.id {
				final.Items, t.record.Messages = turn.Items, nil
			}
		}
	}
	for _, item := range final.Items {
		t.record.Keep(item)
	}
}

// died ends the turn of a child that is gone, if it was to end anyway.
func (t *turn) died(err error) *agent.Ended {
	t.endLeftovers()
	if t.stopping != nil {
		end := t.summary()
		end.Tools = t.HasWorked()
		t.fillStopped(&end)
		return &end
	}
	t.d.log.Warn("codex died in the middle of a turn", "turn_id", t.id, "thread_id", t.c.threadID, "err", err)
	return nil
}

// fillStopped fills in the end of a turn that we asked codex to end.
func (t *turn) fillStopped(end *agent.Ended) {
	switch {
	case errors.Is(t.stopping, errTwice):
		end.Outcome, end.Failure = agent.Failed, twiceFailure()
		return
	case errors.Is(t.stopping, errUnbidden):
		end.Outcome, end.Failure = agent.Failed, unbiddenFailure()
		return
	case errors.Is(t.stopping, errMany):
		end.Outcome, end.Failure = agent.Failed, manyFailure(t.d.cfg.MaxMessages)
		return
	}
	if r, ok := errors.AsType[*executor.Refusal](t.stopping); ok {
		t.refused = r
		end.Outcome, end.Failure = agent.Failed, r.Failure(end.Tools)
		return
	}
	*end = executor.Stopped(*end, t.stopping)
}
