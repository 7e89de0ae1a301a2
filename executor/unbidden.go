package executor

import (
	"context"
	"encoding/json"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// codex can begin a turn by itself: for what stands in the queue in its home, which whoever writes
// there fills (codex queue), and for features that are off here. Such a turn belongs to no task, and
// its words to nobody who has sent them here, so it is ended.

// turnBegan looks whether a turn is one of ours: then its conversation is at work.
func (e *Executor) turnBegan(note appserver.Notification) {
	var n appserver.TurnNote
	if json.Unmarshal(note.Params, &n) != nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.conversations {
		if c.shown.thread == note.ThreadID && c.loadedIn != nil && !e.closed { // Close waits for e.wg after it has set closed
			on := c.loadedIn
			e.wg.Go(func() { e.endUnbidden(c, on, n.Turn.ID) })
			return
		}
	}
}

// endUnbidden ends a turn of a conversation that is not at work.
func (e *Executor) endUnbidden(c *conversation, on *child, turnID string) {
	if !c.lock.TryLock() {
		return
	}
	defer c.lock.Unlock()
	if !e.isLoaded(c, on) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), shortCallTimeout)
	defer cancel()
	if err := on.TurnInterrupt(ctx, c.threadID, turnID); err != nil { // it was ours, and has ended
		return
	}
	e.log.Warn("codex began a turn that nobody has sent a message for, and it was ended", "thread_id", c.threadID, "turn_id", turnID,
		"fix", "see what writes CODEX_HOME/queue_1.sqlite (codex queue): send messages to the runtime")
}
