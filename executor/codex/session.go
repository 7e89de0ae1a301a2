package codex

import (
	"context"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/insist"
)

// Lock takes the turn lock. A conversation implements [executor.Session] by it, and by the methods below.
func (c *conversation) Lock() { c.lock.Lock() }

// Unlock gives the turn lock back.
func (c *conversation) Unlock() { c.lock.Unlock() }

// Next notes whether the job that comes next is another agent's. The end of the one before was told.
func (c *conversation) Next(peer bool) {
	c.leaveNow()
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	c.peer = peer
}

// Close unpins the conversation.
func (c *conversation) Close() {
	c.leavePlace("")
	c.leaveNow()
	if c.d.cfg.Machines != nil {
		c.d.cfg.Machines.Abandon(c.key)
	}
	c.d.unpin(c)
}

// Prepare has the thread be loaded as the turn needs it.
func (c *conversation) Prepare(ctx context.Context, o agent.Options) (executor.Thread, error) {
	if c.d.cfg.Mend != nil {
		c.d.cfg.Mend()
	}
	on, err := c.d.child.Get(ctx)
	if err == nil {
		err = c.findPlace(ctx, o)
	}
	if err == nil {
		err = c.d.ready(ctx, c, o, on)
	}
	if c.on = on; err != nil {
		c.leavePlace("")
	}
	return executor.Thread{ID: c.threadID, Model: c.own.model, Tools: c.tools}, c.d.trouble(err)
}

// Start has codex begin a turn on the child that the thread was prepared on.
func (c *conversation) Start(of executor.Order) (executor.Turn, error) {
	input, err := bring(of.Ctx, c.place, of.Input)
	if err != nil {
		c.leavePlace("")
		return nil, c.d.trouble(err)
	}
	of.Input = input
	t, err := c.d.startTurn(c, of, c.on)
	if err != nil {
		c.leavePlace("")
		return nil, c.d.trouble(err)
	}
	return t, nil
}

// LookUp asks codex what it knows of an attempt.
func (c *conversation) LookUp(ctx context.Context, of executor.Attempt, seen executor.Turn) (executor.Finding, error) {
	on, err := c.d.child.Get(ctx)
	if err != nil {
		return executor.Finding{}, c.d.trouble(err)
	}
	found, err := c.d.lookUp(ctx, c, of, on)
	if err != nil {
		return executor.Finding{}, c.d.trouble(err)
	}
	return found.told(c, seen), nil
}

// In moves the conversation to a thread.
func (c *conversation) In(thread string) (back func()) { return c.d.keepThread(c, thread) }

// Recall implements [executor.Session]: it asks the journal for the thread of a conversation that is
// new to this process.
func (c *conversation) Recall(ctx context.Context, cut bool, full func()) error {
	if c.recalled {
		return nil
	}
	err := insist.Until(ctx, c.d.log, "find a thread", func(ctx context.Context) error {
		past, err := c.d.cfg.Journal.Past(ctx, c.key)
		if err != nil {
			return err
		}
		c.threadID, c.own.model, c.tools = past.Thread, past.Model, past.Tools
		c.heard.Known, c.heard.Kept = past.Told, past.Told
		c.resumable = c.threadID != ""
		c.history = c.resumable
		if cut && c.resumable {
			// A cut attempt may be the first turn of its thread, which codex had no
			// time to write down. Only what was before it can be lost.
			c.history, err = c.d.cfg.Journal.ConversationUsed(ctx, c.key)
		}
		return err
	}, full)
	c.recalled = err == nil
	return err
}
