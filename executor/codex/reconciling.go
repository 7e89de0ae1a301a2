package codex

import (
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

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

// doubtTime is for how long codex has to call a turn interrupted, without having told its
// end, until it is believed. Between the answer of turn/start and the begin of its work a
// turn reads interrupted, too (seen on 0.169.0: some milliseconds, a second on a busy
// machine), and to let go of it then would have it run unseen.
const doubtTime = 3 * time.Second
