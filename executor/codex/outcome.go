package codex

import (
	"errors"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// settle ends the turn from its final state, as codex told or as the history
// has it.
func (t *turn) settle(final appserver.Turn) *agent.Ended {
	if t.on.Proven() {
		t.d.credential.Proven(t.on)
	}
	t.c.history = true
	t.repair(final)
	if t.stopping != nil || final.Status == appserver.TurnInterrupted {
		t.endCommands()
	}
	end := t.summary()
	end.Tools = t.record.Tools() || final.Status != appserver.TurnCompleted && t.HasWorked()
	switch {
	case final.Status == appserver.TurnCompleted && !t.isNone():
		end.Outcome = agent.Completed // also when a cancel came too late
		t.passOver()
	case t.stopping != nil:
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

// passOver tells of the messages that the turn, which has completed, has not read.
func (t *turn) passOver() {
	if len(t.unheeded) == 0 {
		return
	}
	turns, err := t.turns()
	if err != nil {
		t.d.log.Warn("whether a turn has read what was added to it is not known", "turn_id", t.id, "err", err)
	}
	for _, id := range t.unheeded {
		if in := findMessage(turns, id); in != nil && in.ID == t.id && passedOver(*in, id) {
			t.d.log.Info("a turn has completed without reading a message that was added to it", "turn_id", t.id, "message", id)
			t.To.PassedOver(id)
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
