package codex

import (
	"context"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
)

// leave takes the thread of c out of the child: at once where many linger already, and no subagent
// works there, which that would end.
func (d *Driver) leave(ctx context.Context, c *conversation, on *child.Child) error {
	d.mu.Lock()
	peer := c.peer
	d.mu.Unlock()
	lately := on.Lately.Of(peer)
	if lately.Crowded(time.Now(), d.cfg.MaxLingering) && c.resumable && !d.ender.AgentsWork(ctx, on, c.threadID) {
		err := on.ThreadUnload(ctx, c.threadID)
		if err == nil || appserver.IsThreadGone(err) {
			return nil
		}
		d.log.Warn("a thread could not be unloaded at once", "thread_id", c.threadID, "err", err)
	}
	lately.Add(time.Now())
	return on.ThreadUnsubscribe(ctx, c.threadID)
}
