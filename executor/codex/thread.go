package codex

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/leftovers"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/told"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

const (
	startThreadTimeout  = 2 * time.Minute // slow MCP servers hold thread/start for 40 s and more
	resumeThreadTimeout = 60 * time.Second
	shortCallTimeout    = 10 * time.Second
	writerRetry         = 100 * time.Millisecond // while another process still holds the thread
	writerWait          = 10 * time.Second
)

// load makes sure that c has a thread that is loaded in the child and sends us
// its notifications.
func (d *Driver) load(ctx context.Context, c *conversation, on *child.Child) error {
	if d.isLoaded(c, on) {
		return nil
	}
	if why := on.Unreadable(); why != "" {
		return wishError(why + ": remove it, or put a file there that codex can read; nothing was done")
	}
	d.makeRoom(ctx, on, 1)
	if c.threadID != "" && c.resumable {
		again := d.resume
		if c.tools == ForeignTools {
			again = d.fork
		}
		err := again(ctx, c, on)
		if d.mayFork(c, err) {
			err = d.fork(ctx, c, on)
		}
		if err == nil || !isLost(err) {
			return err
		}
		d.log.Warn("a thread could not be resumed and is replaced by a new one", "thread_id", c.threadID, "err", err)
		d.forget(c, err)
	}
	return d.open(ctx, c, on)
}

// mayFork reports whether c goes on in a fork of its thread, which codex refuses to resume with another
// model provider: where that has no tools of ours to lose.
func (d *Driver) mayFork(c *conversation, refused error) bool {
	return appserver.IsOtherProvider(refused) && (d.toolSet == "" || c.foreign())
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

// isLost reports whether a refused resume means that the thread cannot be had
// any more: whatever codex refuses for good, a damaged file included.
func isLost(err error) bool {
	_, refused := errors.AsType[*appserver.RPCError](err)
	passing := appserver.IsActiveWriter(err) || appserver.IsOverloaded(err) || appserver.IsBadConfig(err) || appserver.IsWithoutServer(err) || appserver.IsPassing(err)
	return refused && !passing
}

// open starts a new thread for c.
func (d *Driver) open(ctx context.Context, c *conversation, on *child.Child) error {
	params, instructions := d.newThread(c, on)
	session, err := d.loadWith(ctx, on, loading{asked: params, limit: startThreadTimeout, call: func(ctx context.Context) (appserver.ThreadSession, error) {
		return on.ThreadStart(ctx, params)
	}})
	if err != nil {
		return err
	}
	c.threadID, c.rollout, c.resumable = session.Thread.ID, session.Thread.Path, false
	c.tools = d.toolSet
	c.learn(params, session)
	c.heard = told.Heard{Loaded: instructions, Known: instructions}
	d.loaded(c, on)
	return nil
}

// resume loads the thread of c.
func (d *Driver) resume(ctx context.Context, c *conversation, on *child.Child) error {
	params, instructions := d.newThread(c, on)
	again := appserver.ThreadResumeParams{
		ThreadID: c.threadID, ExcludeTurns: true,
		Model: cmp.Or(params.Model, c.own.model), ModelProvider: params.ModelProvider, Cwd: params.Cwd,
		ApprovalPolicy: params.ApprovalPolicy, ApprovalsReviewer: params.ApprovalsReviewer,
		Sandbox: params.Sandbox, Config: params.Config, DeveloperInstructions: params.DeveloperInstructions,
	}
	session, err := d.loadWith(ctx, on, loading{of: c.threadID, asked: params, limit: resumeThreadTimeout, call: func(ctx context.Context) (appserver.ThreadSession, error) {
		return resumeFree(ctx, on, again)
	}})
	c.rollout = cmp.Or(session.Thread.Path, c.rollout)
	if err != nil {
		return err
	}
	c.learn(params, session)
	c.resumable, c.history, c.heard.Loaded = true, true, instructions
	d.loaded(c, on)
	return nil
}

// resumeFree resumes a thread, waiting while another process still holds it: a child that was
// killed a moment ago may not be gone yet.
func resumeFree(ctx context.Context, on *child.Child, params appserver.ThreadResumeParams) (appserver.ThreadSession, error) {
	for deadline := time.Now().Add(writerWait); ; {
		session, err := resumeAs(ctx, on, params)
		if !appserver.IsActiveWriter(err) || time.Now().After(deadline) {
			return session, err
		}
		if !sleep.For(ctx, writerRetry) {
			return session, context.Cause(ctx)
		}
	}
}

// resumeAs resumes a thread with what is asked for, also one that codex has loaded with something
// else and that we follow, as after a loading that was given up. Where codex is bound to something
// else it has that then, too.
func resumeAs(ctx context.Context, on *child.Child, params appserver.ThreadResumeParams) (none appserver.ThreadSession, _ error) {
	session, err := on.ThreadResume(ctx, params)
	if err != nil || session.May(params.ApprovalPolicy, params.Sandbox) {
		return session, err
	}
	switch err = on.ThreadUnload(ctx, params.ThreadID); {
	case appserver.IsOverloaded(err), err != nil && ctx.Err() != nil:
		return none, err
	case err != nil && !appserver.IsThreadGone(err):
		on.Restart(reasonLoaded)
		<-on.Done()
		return none, on.Err()
	}
	return on.ThreadResume(ctx, params)
}

func (d *Driver) isLoaded(c *conversation, on *child.Child) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return c.loadedIn == on
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
			if d.isLoaded(c, on) { // nobody was faster
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

// lessUsedLocked reports whether c is to be unloaded before another one.
func (c *conversation) lessUsedLocked(other *conversation) bool {
	if busy, others := c.users > 0, other.users > 0; busy != others {
		return others
	}
	return c.lastUsed.Before(other.lastUsed)
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

// unsubscribe takes the thread of c out of the child, whatever runs there.
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

// dropDead lets go of what conversations hold of a child that has ended.
func (d *Driver) dropDead(dead *child.Child) {
	d.mu.Lock()
	all := slices.Collect(maps.Values(d.conversations))
	d.mu.Unlock()
	for _, c := range all {
		if !c.lock.TryLock() {
			continue // it is at work, and finds out by itself
		}
		if d.isLoaded(c, dead) {
			d.unloaded(c)
		}
		c.lock.Unlock()
	}
}
