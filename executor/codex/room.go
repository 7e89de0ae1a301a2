package codex

import (
	"context"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/leftovers"
)

// makeRoom unloads threads that are not at work, until so many more fit. One in which a command
// still runs is spared where it is no other agent's: those have any number of conversations, and
// their commands end. Where none can be unloaded the bound is exceeded: a turn matters more.
func (d *Driver) makeRoom(ctx context.Context, on *child.Child, more int) {
	d.unloadBeyond(on, more, func(c *conversation) { d.unload(ctx, c, on) }, func(*conversation) bool { return true })
	d.unloadBeyond(on, more, func(c *conversation) { d.evict(ctx, c, on) }, func(c *conversation) bool { return c.peer })
}

// unloadBeyond unloads threads that are not at work, of some conversations, until so many more
// fit. Which are at work their locks tell.
func (d *Driver) unloadBeyond(on *child.Child, more int, unload func(*conversation), of func(*conversation) bool) {
	passed := map[*conversation]bool{}
	for {
		c := d.leastUsed(on, more, func(c *conversation) bool { return !passed[c] && of(c) })
		if c == nil {
			return
		}
		passed[c] = true
		if c.lock.TryLock() {
			if d.isLoaded(c, on) { // it was not done meanwhile
				unload(c)
			}
			c.lock.Unlock()
		}
	}
}

// trim unloads what is loaded beyond the bound.
func (d *Driver) trim() {
	if on, _ := d.child.Health(); on != nil {
		d.makeRoom(context.Background(), on, 0)
	}
}

// leastUsed picks the next thread to unload of some, or nil if there is room or no candidate: the
// longest unused of those of which no message waits, and then of the others. Messages of any
// number of conversations may wait, and each would have its thread loaded meanwhile. Of is called
// while d.mu is held.
func (d *Driver) leastUsed(on *child.Child, more int, of func(*conversation) bool) (least *conversation) {
	d.mu.Lock()
	defer d.mu.Unlock()
	loaded := 0
	for _, c := range d.conversations {
		if c.loadedIn != on {
			continue
		}
		loaded++
		if of(c) && (least == nil || c.lessUsedLocked(least)) {
			least = c
		}
	}
	if loaded+more <= d.cfg.MaxThreads {
		return nil
	}
	return least
}

// unload takes the thread of c out of the child, unless a command of it still
// runs there: unloading would kill it.
func (d *Driver) unload(ctx context.Context, c *conversation, on *child.Child) {
	// The job that needs the room may be canceled; this thread must not notice.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shortCallTimeout)
	defer cancel()
	terminals, err := on.BackgroundTerminals(ctx, c.threadID)
	if err != nil || len(terminals) > 0 {
		return
	}
	d.unsubscribe(ctx, c, on)
}

// evict takes the thread of c out of the child, with the commands that still run there: codex
// leaves them for a minute.
func (d *Driver) evict(ctx context.Context, c *conversation, on *child.Child) {
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), shortCallTimeout)
	defer cancel()
	if err := leftovers.EndTerminals(ending, on, c.threadID, func(appserver.BackgroundTerminal) bool { return true }); err != nil {
		d.log.Warn("commands of a conversation that is unloaded may go on for a minute", "thread_id", c.threadID, "err", err)
	}
	d.unsubscribe(ctx, c, on)
}

// unsubscribe takes the thread of c out of the child, with what runs there.
func (d *Driver) unsubscribe(ctx context.Context, c *conversation, on *child.Child) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shortCallTimeout)
	defer cancel()
	if err := d.leave(ctx, c, on); err != nil {
		d.log.Warn("a thread may not have been unloaded", "thread_id", c.threadID, "err", err)
	}
	d.unloaded(c) // also after an error: codex may have done it, and then it tells us nothing more
	d.mu.Lock()
	defer d.mu.Unlock()
	d.letGoLocked(c)
}

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
