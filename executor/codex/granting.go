package codex

import (
	"context"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
)

// reasonLoaded is why a codex is restarted that unloads a thread no more.
const reasonLoaded = "thread not unloaded"

// regrant has the thread of c be loaded with what a turn may do, and what earlier turns
// have left do no more than that, and no less: subagents and scripts.
//
// To say it in turn/start alone is not enough. codex asks about tools of MCP servers, and what
// those ask, by the sandbox of the turn or by that which the thread was loaded with, each for about half
// of the threads (TestToolOfANarrowTurn). It lets each subagent and script keep what it was made with; but a
// subagent that is not loaded is loaded with what the turn has that gives it work, and scripts end
// with the loading of their thread (TestScriptEndsWhereMoreIsAllowed). So do subagents at work and
// commands that were left running. All seen on 0.169.0.
//
// A thread with which codex would read a file of instructions that is too large is loaded anew,
// too. Where the thread cannot be unloaded codex is restarted, which unloads them all. The caller
// loads the thread.
func (d *Driver) regrant(ctx context.Context, c *conversation, o agent.Options, on *child.Child) error {
	now := d.allowed(o)
	if now == d.grantOf(c) && !d.overreads(c, o, on) {
		return nil
	}
	if c.threadID != "" {
		d.ender.EndAgents(on, "", c.threadID)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.cfg.Patience)
		defer cancel()
		err := d.unloadSession(ctx, c, on)
		switch {
		case appserver.IsOverloaded(err):
			return err
		case err != nil && !appserver.IsThreadGone(err):
			d.log.Warn("a conversation could not be unloaded, codex is restarted", "thread_id", c.threadID, "err", err)
			on.Restart(reasonLoaded)
			<-on.Done()
			c.granted = now // with codex all of it has ended
			return on.Err()
		}
	}
	c.granted = now
	return nil
}

// unloadSession unloads the thread of c with its subagents.
func (d *Driver) unloadSession(ctx context.Context, c *conversation, on *child.Child) error {
	loaded, err := on.ThreadsLoaded(ctx)
	if err != nil {
		return err
	}
	for _, thread := range loaded {
		if thread == c.threadID || d.isOurs(thread) {
			continue
		}
		read, err := on.ThreadRead(ctx, thread)
		if err == nil && read.SessionID == c.threadID {
			err = on.ThreadUnload(ctx, thread)
		}
		if err != nil && !appserver.IsThreadGone(err) {
			return err
		}
	}
	switch {
	case !d.isLoaded(c, on): // codex may have it still: see resumeAs
		return nil
	case !c.resumable: // no turn of it has begun: the next loading makes another
		d.unsubscribe(ctx, c, on)
		return nil
	}
	err = on.ThreadUnload(ctx, c.threadID)
	if !appserver.IsOverloaded(err) { // then it is to be unloaded the next time
		d.unloaded(c)
	}
	return err
}

// overreads reports whether codex would read a file that is too large in a turn, though
// the thread of c is loaded.
func (d *Driver) overreads(c *conversation, o agent.Options, on *child.Child) bool {
	return c.spared == "" && c.says(o) && d.isLoaded(c, on) && on.Oversized(c.folder) != ""
}
