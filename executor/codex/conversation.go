package codex

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/told"
)

// A conversation is the thread that carries a context, as far as this process knows it. What two
// locks guard changes in two places only, loaded and unloaded: loadedIn names the child
// exactly while events listens to it.
type conversation struct {
	d   *Driver
	key string

	// Guarded by driver.mu.
	users    int // that have pinned it
	loadedIn *child.Child
	known    bool // it has or had a thread
	lastUsed time.Time
	peer     bool // its last job is another agent's
	shown    shownThread
	unbidden []string // turns on its thread that are not ours, and were not ended yet

	spent atomic.Pointer[agent.Usage] // of its thread in all; nil if codex has not said so

	// strange tells of words in its thread that no message here has brought. blocked says that the thread has
	// something that the provider refuses to read, and that could not be taken out yet. Both are set under the
	// turn lock, and no journal has them.
	strange told.Strangeness
	blocked atomic.Bool

	// lock is the turn lock. It is held while a job is served, and while the thread is unloaded.
	// Functions that take a conversation are called under it, unless they say otherwise. It guards
	// the fields below.
	lock       sync.Mutex
	recalled   bool         // the journal was asked for its thread
	on         *child.Child // that its thread was prepared on last
	threadID   string
	rollout    string         // the thread's file, as codex names it; empty before it was loaded
	resumable  bool           // a turn was acknowledged, so the thread may be on disk
	history    bool           // turns of it have ended, so that its loss is one
	tools      string         // the set of tools that the thread was started with
	fresh      told.Freshness // of the next turn, which tells the model
	unread     told.Freshness // that turns have had with them since the model has answered
	events     *appserver.Subscription
	heard      told.Heard
	own        settings        // what its thread was loaded with
	folder     string          // where the last turn has worked; empty if that is not known
	spared     string          // the file of instructions for whose size its thread was loaded so that codex reads none
	strayed    bool            // the thread's settings may be those that one of its turns asked for
	named      bool            // a turn has named another model than the thread has, and the model has not answered since
	read       string          // the last turn that the model is known to have begun to answer
	ran        string          // the model of the thread's last turn; empty if that is not known
	nearlyFull bool            // its history has nine tenths of what its model reads, as far as is known
	granted    grant           // what its thread is loaded with; empty for what turns may by themselves
	earlier    map[string]bool // ids of the commands of earlier turns, which a cancel must spare
}

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

// letGoLocked forgets a conversation of which nothing is worth keeping: it is not pinned, and has
// no loaded thread and nothing that the journal does not know.
func (d *Driver) letGoLocked(c *conversation) {
	_, bookless := d.cfg.Journal.(noJournal)
	if c.users == 0 && c.loadedIn == nil && (!bookless || !c.known) && !c.strange.Any() && !c.blocked.Load() && d.conversations[c.key] == c {
		delete(d.conversations, c.key)
	}
}

// Forget lets go of a conversation: its thread is unloaded, and a message that comes
// later asks the journal for one. It returns [executor.ErrBusy] if the conversation is in use,
// or a command of it still runs.
func (d *Driver) Forget(ctx context.Context, key string) error {
	return d.letGoOf(ctx, key, d.unload)
}

// Drop is Forget for a conversation that nobody wants to go on with: a command that
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

// drop unloads the thread of a conversation and lets go of it. It returns [ErrBusy] if it is
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
// databases know of it. Where none runs that is [ErrNoCodex].
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
	return err
}
