package codex

import (
	"cmp"
	"context"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
)

// Health implements [executor.Shown].
func (d *Driver) Health() executor.AgentHealth {
	on, child := d.child.Health()
	h := executor.AgentHealth{Child: child, Threads: d.loadedThreads(on), Limits: d.failures.Limits.List(), Account: d.credential.Account()}
	for _, in := range d.desk.All() {
		open, _ := in.Standing()
		h.Questions += open
	}
	return h
}

// Overview implements [executor.Shown].
func (d *Driver) Overview() executor.Overview {
	on, _ := d.child.Health()
	o := executor.Overview{Login: d.credential.Open(), Email: d.credential.Email()}
	o.Conversations, o.Model = d.overviews(on)
	if on != nil {
		o.Model = cmp.Or(on.Launch.Model, o.Model)
	}
	return o
}

// overviews are those of the conversations whose threads this process knows, and
// the model of the one that was used last.
func (d *Driver) overviews(on *child.Child) (all []executor.Conversation, model string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	all = make([]executor.Conversation, 0, len(d.conversations))
	var latest time.Time
	for _, c := range d.conversations {
		all = append(all, executor.Conversation{
			Context: c.key, Thread: c.shown.thread, Loaded: on != nil && c.loadedIn == on, LastUsed: c.lastUsed, Usage: c.spent.Load(),
		})
		if c.shown.model != "" && !c.lastUsed.Before(latest) {
			model, latest = c.shown.model, c.lastUsed
		}
	}
	return all, model
}

// Ping implements [executor.Shown].
func (d *Driver) Ping(ctx context.Context) error {
	on, _ := d.child.Health()
	if on == nil {
		return nil
	}
	return on.Ping(ctx)
}

// loadedThreads counts the threads loaded in a child.
func (d *Driver) loadedThreads(on *child.Child) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for _, c := range d.conversations {
		if c.loadedIn == on && on != nil {
			n++
		}
	}
	return n
}
