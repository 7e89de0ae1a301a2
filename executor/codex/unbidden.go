package codex

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/inquiry"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/leftovers"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

// codex can begin a turn by itself: for what stands in the queue in its home, which every process
// that may write there can fill (codex queue), and for features that are off here. Such a turn belongs to no task, and
// its words to nobody who has sent them here. There is no setting that keeps codex 0.169.0 from its
// queue, so that is emptied before a turn of ours; a turn that begins all the same is ended, and
// taken out of the history.

const (
	unbiddenBegan = "codex began a turn that nobody has sent a message for"
	unbiddenFix   = "see what writes CODEX_HOME/queue_1.sqlite (codex queue): send messages to the runtime"
)

// emptyQueue deletes what others have put into codex's queue for the thread of c, before codex can
// begin a turn for it.
func (d *Driver) emptyQueue(ctx context.Context, c *conversation, on *child.Child) {
	if c.threadID == "" || !c.resumable {
		return
	}
	mark := markQueue(on.Info().CodexHome)
	if mark == c.queue && mark != (queueMark{}) { // codex would answer as it did then
		return
	}
	ctx, cancel := context.WithTimeout(ctx, shortCallTimeout)
	defer cancel()
	deleted, err := on.QueueEmpty(ctx, c.threadID)
	if err == nil && deleted == 0 {
		c.queue = mark
	}
	if err != nil && ctx.Err() == nil && !on.Gone() {
		d.log.Warn("codex's own queue cannot be emptied; a turn that it begins for it is ended", "thread_id", c.threadID, "err", err)
	}
	if deleted > 0 {
		d.log.Warn("codex's own queue had what was not sent here, and it was deleted", "thread_id", c.threadID, "count", deleted, "fix", unbiddenFix)
	}
}

// turnBegan looks whether a turn that begins is one of ours: from before it is started until its
// end there is somebody to put its questions to.
func (d *Driver) turnBegan(note appserver.Notification) {
	var n appserver.TurnNote
	if json.Unmarshal(note.Params, &n) != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	in := d.desk.On(note.ThreadID)
	if in != nil && in.IsOf(n.Turn.ID) || d.closed { // rest waits for d.wg after it has set closed
		return
	}
	c := d.conversationOnLocked(note.ThreadID, in)
	if c == nil || c.loadedIn == nil {
		return
	}
	c.unbidden = append(c.unbidden, n.Turn.ID)
	if in != nil && in.IsOf("") { // it may be the one that is being started, and start looks
		return
	}
	on := c.loadedIn
	d.wg.Go(func() {
		c.lock.Lock()
		defer c.lock.Unlock()
		d.endUnbidden(c, on)
	})
}

// conversationOnLocked is the conversation of a thread, on which in asks if it is not nil; nil if there is
// none. Each turn of ours comes here as it begins: it does not go through all of them.
func (d *Driver) conversationOnLocked(thread string, in *inquiry.Inquiry) *conversation {
	if in != nil {
		return d.conversations[in.Conversation]
	}
	for _, c := range d.conversations {
		if c.shown.thread == thread {
			return c
		}
	}
	return nil
}

// bidden says of a turn that it is ours, or has taken a message of ours in: its first message tells
// which, see [turn.item]. Any that began before it has ended, and stays: with it ours would be taken
// out of the history.
func (d *Driver) bidden(c *conversation, turnID string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before, behind := c.unbidden, []string(nil)
	if i := slices.Index(c.unbidden, turnID); i >= 0 { // one behind it runs, where ours has ended by now
		before, behind = c.unbidden[:i], c.unbidden[i+1:]
	}
	c.unbidden = behind
	if len(before) > 0 {
		c.strange.Mix()
	}
}

// endUnbidden ends the turns that codex has begun by itself on the thread of c, and takes them out
// of its history. No turn of ours runs.
func (d *Driver) endUnbidden(c *conversation, on *child.Child) {
	d.mu.Lock()
	turns := c.unbidden
	c.unbidden = nil
	d.mu.Unlock()
	if len(turns) == 0 || !d.isLoaded(c, on) {
		return
	}
	for _, id := range turns {
		d.ender.EndTurn(on, c.threadID, id)
		d.ender.EndAgents(on, id, "")
	}
	out := !d.runsCommands(c, on) && d.takeOut(c, on, turns[0]) // with those after it
	if !out {
		c.strange.Mix()
	}
	d.log.Warn(unbiddenBegan, "thread_id", c.threadID, "turn_id", turns[0], "turns", len(turns), "in_history", !out, "fix", unbiddenFix)
}

// stirred looks after a thread that nobody follows, and that codex has not unloaded yet: codex says
// of it no more than that it is at work.
func (d *Driver) stirred(note appserver.Notification) {
	var n appserver.ThreadStatusNote
	if json.Unmarshal(note.Params, &n) != nil || n.Status.Type != "active" {
		return
	}
	on, _ := d.child.Health()
	d.mu.Lock()
	defer d.mu.Unlock()
	if on == nil || d.closed || !d.threads[n.ThreadID] || d.desk.On(n.ThreadID) != nil {
		return
	}
	back := d.goesAwayLocked(n.ThreadID) // a message waits until the thread is ours again
	d.wg.Go(func() {
		defer back()
		d.endUnfollowed(on, n.ThreadID)
	})
}

// noTurn is the id of no turn. codex says which one runs if it is asked to end this one.
const noTurn = "none"

// strayFor is how long a turn is looked for on a thread that is said to be at work.
const strayFor = 2 * time.Second

// strayTurn is the turn that codex has begun on a thread which nobody follows; empty if there is none, as
// when it has ended by itself. It may not have begun when codex says that the thread is at work, or be
// ended by the very question.
func (d *Driver) strayTurn(ctx context.Context, on *child.Child, threadID string) string {
	ctx, cancel := context.WithTimeout(ctx, strayFor)
	defer cancel()
	for {
		err := on.TurnInterrupt(ctx, threadID, noTurn)
		if running, ok := appserver.StaleTurn(err); ok {
			return running
		}
		if turns, listed := on.TurnsList(ctx, threadID, 1, true); listed == nil && len(turns) > 0 && turns[0].Status != appserver.TurnInProgress && ofNobody(turns[0]) {
			return turns[0].ID
		}
		if appserver.IsThreadGone(err) || on.Gone() || !sleep.For(ctx, leftovers.Every) {
			return ""
		}
	}
}

// ofNobody reports whether a turn has messages, and none of ours: codex gives those of its queue ids of
// its own (seen on 0.169.0).
func ofNobody(turn appserver.Turn) bool {
	asked := slices.DeleteFunc(slices.Clone(turn.Items), func(i appserver.Item) bool { return i.Type != appserver.ItemUserMessage })
	return len(asked) > 0 && !slices.ContainsFunc(asked, func(i appserver.Item) bool { return isOfSomeJob(i.ClientID) })
}

// endUnfollowed ends the turn that codex has begun on a thread which nobody follows, and takes it
// out of the history, unless that would end commands.
func (d *Driver) endUnfollowed(on *child.Child, threadID string) {
	ctx, cancel := context.WithTimeout(context.Background(), d.cfg.Grace)
	defer cancel()
	turnID := d.strayTurn(ctx, on, threadID)
	if turnID == "" {
		d.log.Warn("codex was at work in a thread that nobody follows, and no turn was found there", "thread_id", threadID, "fix", unbiddenFix)
		return
	}
	d.ender.EndTurn(on, threadID, turnID)
	d.ender.EndAgents(on, turnID, "")
	terminals, err := on.BackgroundTerminals(ctx, threadID)
	if err == nil && len(terminals) == 0 {
		_, err = on.ThreadRevert(ctx, threadID, turnID)
	}
	d.log.Warn(unbiddenBegan, "thread_id", threadID, "turn_id", turnID, "in_history", err != nil || len(terminals) > 0, "err", err, "fix", unbiddenFix)
}
