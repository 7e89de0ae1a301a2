package leftovers

import (
	"context"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

// EndTurn ends a turn, and returns when it has ended. A codex that does not obey is restarted, as
// with turns of ours.
func (e *Ender) EndTurn(on *child.Child, threadID, turnID string) {
	ctx, cancel := context.WithTimeout(context.Background(), e.cfg.Grace)
	defer cancel()
	for { // an interrupt that comes within milliseconds of the begin is lost
		err := on.TurnInterrupt(ctx, threadID, turnID)
		_, other := appserver.StaleTurn(err)
		if other || appserver.IsNoActiveTurn(err) || appserver.IsThreadGone(err) || on.Gone() {
			return
		}
		if !sleep.For(ctx, Every) {
			e.log.Warn("codex did not end a turn and is restarted", "turn_id", turnID, "thread_id", threadID)
			on.Restart("interrupt ignored")
			<-on.Done()
			return
		}
	}
}
