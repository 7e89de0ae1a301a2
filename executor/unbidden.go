package executor

import (
	"context"
	"encoding/json"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

// codex can begin a turn by itself: for what stands in the queue in its home, which whoever writes
// there fills (codex queue), and for features that are off here. Such a turn belongs to no task, and
// its words to nobody who has sent them here, so it is ended.

// turnBegan looks whether a turn that begins is one of ours: from before it is started until its
// end there is somebody to put its questions to.
func (e *Executor) turnBegan(note appserver.Notification) {
	var n appserver.TurnNote
	if json.Unmarshal(note.Params, &n) != nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.inquiries[note.ThreadID] != nil || e.closed { // Close waits for e.wg after it has set closed
		return
	}
	for _, c := range e.conversations {
		if c.shown.thread == note.ThreadID && c.loadedIn != nil {
			on := c.loadedIn
			e.wg.Go(func() { e.endUnbidden(c, on, n.Turn.ID) })
			return
		}
	}
}

// endUnbidden ends a turn, once its conversation is not at work: codex's own, such as a summary,
// has ended by then.
func (e *Executor) endUnbidden(c *conversation, on *child, turnID string) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if !e.isLoaded(c, on) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), e.cfg.Grace)
	defer cancel()
	ended := false
	for { // one that comes within milliseconds of the begin is lost
		err := on.TurnInterrupt(ctx, c.threadID, turnID)
		if err != nil {
			break // it has ended, or codex has
		}
		ended = true
		if !sleep.For(ctx, askEvery) {
			break
		}
	}
	if ended {
		e.mustEndAgents(on, turnID, "")
		e.log.Warn("codex began a turn that nobody has sent a message for, and it was ended", "thread_id", c.threadID, "turn_id", turnID,
			"fix", "see what writes CODEX_HOME/queue_1.sqlite (codex queue): send messages to the runtime")
	}
}
