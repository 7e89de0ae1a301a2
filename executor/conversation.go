package executor

import (
	"context"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// A conversation is one context and the thread that carries it.
type conversation struct {
	key string

	// Guarded by Executor.mu.
	queue    []*job
	current  *job // taken from the queue and not ended, or nil
	busy     bool // a goroutine serves the queue
	loadedIn *child
	lastUsed time.Time

	// lock is the turn lock. Whoever serves a job holds it throughout, and so
	// does whoever unloads the thread; it guards the fields below.
	lock      sync.Mutex
	threadID  string
	resumable bool // a turn was acknowledged, so the thread is on disk
	replaced  bool // the thread before this one was lost; the next turn says so to the model
	events    *appserver.Subscription
}

// conversation returns the conversation of a context, made at its first use.
// The caller holds e.mu.
func (e *Executor) conversation(key string) *conversation {
	c := e.conversations[key]
	if c == nil {
		c = &conversation{key: key}
		e.conversations[key] = c
	}
	return c
}

// serve runs the jobs of c, one at a time and in order, until none is left.
func (e *Executor) serve(c *conversation) {
	for j := e.take(c); j != nil; j = e.take(c) {
		end := e.run(c, j)
		e.mu.Lock()
		c.current = nil
		c.lastUsed = time.Now()
		e.running--
		e.mu.Unlock()
		e.finish(j, end)
	}
}

// take moves the first waiting job to current, or ends the goroutine's turn of duty.
func (e *Executor) take(c *conversation) *job {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(c.queue) == 0 {
		c.queue, c.busy = nil, false
		return nil
	}
	c.current, c.queue = c.queue[0], c.queue[1:]
	e.waiting--
	e.running++
	e.cfg.Metrics.QueueDepth(e.waiting)
	return c.current
}

// run brings one job to its end: it waits for a slot, then runs the turn.
func (e *Executor) run(c *conversation, j *job) Ended {
	if err := e.slots.Acquire(j.ctx, 1); err != nil {
		return e.beforeStart(context.Cause(j.ctx))
	}
	defer e.slots.Release(1)
	c.lock.Lock()
	defer c.lock.Unlock()
	t, err := e.start(c, j)
	if err != nil {
		return e.beforeStart(err)
	}
	defer t.attention.close()
	return t.follow()
}
