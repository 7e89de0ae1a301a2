package codex

import (
	"context"
	"errors"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
)

// pin keeps a conversation from being forgotten, until unpin; it is made at its first use.
func (d *Driver) pin(key string) *conversation {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.conversations[key]
	if c == nil {
		c = &conversation{d: d, key: key}
		d.conversations[key] = c
	}
	c.users++
	return c
}

// unpin is the end of that. A job that found no room for its thread had it loaded all the same: what is
// loaded beyond the bound is unloaded, unless all of it is about to end.
func (d *Driver) unpin(c *conversation) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c.users--
	c.lastUsed = time.Now()
	d.letGoLocked(c)
	if !d.closed && d.root.Err() == nil {
		d.wg.Go(d.trim)
	}
}

// Forget lets go of a conversation: its thread is unloaded, and a message that comes
// later asks the journal for one. It returns [executor.ErrBusy] if the conversation is in use,
// or a command of it still runs.
func (d *Driver) Forget(ctx context.Context, key string) error {
	return d.letGoOf(ctx, key, d.unload)
}

// Drop is Forget for a conversation that is not gone on with: a command that
// it has left running does not keep it, but ends with its thread, within a
// minute.
func (d *Driver) Drop(ctx context.Context, key string) error {
	return d.letGoOf(ctx, key, d.unsubscribe)
}

func (d *Driver) letGoOf(ctx context.Context, key string, unload func(context.Context, *conversation, *child.Child)) error {
	if !d.host.AtRest(ctx, key) {
		return executor.ErrBusy
	}
	return d.drop(ctx, key, unload)
}

// drop unloads the thread of a conversation and lets go of it. It returns [executor.ErrBusy] if it is
// pinned, or its thread stays loaded.
func (d *Driver) drop(ctx context.Context, key string, unload func(context.Context, *conversation, *child.Child)) error {
	d.mu.Lock()
	c := d.conversations[key]
	d.mu.Unlock()
	if c == nil {
		return nil
	}
	if !c.lock.TryLock() {
		return executor.ErrBusy
	}
	defer c.lock.Unlock()
	if on, _ := d.child.Health(); on != nil && d.isLoaded(c, on) {
		unload(ctx, c, on)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.conversations[key]
	if now != nil && (now != c || c.users > 0 || c.loadedIn != nil) { // it has come back meanwhile
		return executor.ErrBusy
	}
	delete(d.threads, c.threadID)
	delete(d.conversations, key)
	return nil
}

// ErrNoCodex says that no codex runs which could be asked.
var ErrNoCodex = errors.New("codex does not run")

// Delete has a codex that runs delete a thread which no conversation has any more, with what its
// databases know of it. Where none runs that is [ErrNoCodex], and a [RefusedError] where codex refuses.
func (d *Driver) Delete(ctx context.Context, thread string) error {
	on, _ := d.child.Health()
	if on == nil {
		return ErrNoCodex
	}
	ctx, cancel := context.WithTimeout(ctx, d.cfg.Patience)
	defer cancel()
	err := on.ThreadDelete(ctx, thread)
	if err == nil {
		d.mu.Lock()
		delete(d.threads, thread)
		d.mu.Unlock()
	}
	return refused(err)
}
