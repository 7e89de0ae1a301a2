package codex

import (
	"cmp"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/told"
)

func (d *Driver) isLoaded(c *conversation, on *child.Child) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return c.loadedIn == on
}

// isOurs reports whether a conversation has the thread.
func (d *Driver) isOurs(thread string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.threads[thread]
}

// loaded records that the thread of c is loaded in on, and listens to it.
func (d *Driver) loaded(c *conversation, on *child.Child) {
	if c.events != nil { // of a child that is gone
		c.events.Close()
	}
	c.events = on.Subscribe(c.threadID)
	d.mu.Lock()
	defer d.mu.Unlock()
	c.loadedIn, c.known, c.lastUsed = on, true, time.Now()
	if c.shown.thread != c.threadID {
		c.spent.Store(nil)
	}
	c.shown = shownThread{c.threadID, c.own.model}
	d.threads[c.threadID] = true
}

// unloaded records that the thread of c is not loaded, and stops listening to
// it.
func (d *Driver) unloaded(c *conversation) {
	if c.events != nil {
		c.events.Close()
		c.events = nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	c.loadedIn = nil
}

// forget gives the thread of c up, which codex has refused to resume.
func (d *Driver) forget(c *conversation, refused error) {
	d.unloaded(c)
	if c.history || !appserver.IsNoRollout(refused) {
		c.fresh = cmp.Or(c.fresh, told.HistoryLost)
	}
	c.threadID, c.rollout, c.resumable, c.history, c.own, c.heard = "", "", false, false, settings{}, told.Heard{}
	c.strange.Forget()
	c.blocked.Store(false)
	c.named, c.read = false, ""
}
