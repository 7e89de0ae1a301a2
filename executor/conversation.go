package executor

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// A conversation is one context and the thread that carries it. What two locks
// guard changes in two places only, loaded and unloaded: loadedIn names the child
// exactly while events listens to it.
type conversation struct {
	key string

	// Guarded by Executor.mu.
	queue    []*job
	current  *job          // taken from the queue and not ended, or nil
	busy     bool          // a goroutine serves the queue
	idle     chan struct{} // closed when it has ended; made anew with each
	loadedIn *child
	known    bool // it has or had a thread
	lastUsed time.Time
	peer     bool // its last job is another agent's
	shown    shownThread
	unbidden []string // turns on its thread that are not ours, and were not ended yet

	spent atomic.Pointer[agent.Usage] // of its thread in all; nil if codex has not said so

	// strange tells of words in its thread that no message here has brought. blocked says that the thread has
	// something that the provider refuses to read, and that could not be taken out yet. Both are set under the
	// turn lock, and no book has them.
	strange strangeness
	blocked atomic.Bool

	// lock is the turn lock. Whoever serves a job holds it throughout, and so
	// does whoever unloads the thread; it guards the fields below.
	lock       sync.Mutex
	recalled   bool // the book was asked for its thread
	threadID   string
	rollout    string    // the thread's file, as codex names it; empty before it was loaded
	resumable  bool      // a turn was acknowledged, so the thread may be on disk
	history    bool      // turns of it have ended, so that its loss is one
	tools      string    // the set of tools that the thread was started with
	fresh      freshness // of the next turn, which tells the model
	unread     freshness // that turns have had with them since the model has answered
	events     *appserver.Subscription
	heard      heard
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

// serve runs the jobs of c, one at a time and in order, until none is left. A job that found no
// room for its thread had it loaded all the same.
func (e *Executor) serve(c *conversation) {
	for j := e.take(c); j != nil; j = e.take(c) {
		end, taken := e.run(c, j)
		e.finish(j, end)
		for _, s := range taken {
			e.endSteer(s, agent.Ended{Outcome: end.Outcome, Failure: end.Failure, Tools: end.Tools})
		}
		e.mu.Lock()
		e.noneOf(j)
		e.mu.Unlock()
	}
	e.trim()
}

// letGo forgets a conversation that has nothing worth keeping: no job, no loaded
// thread, and nothing that the book does not know. The caller holds e.mu.
func (e *Executor) letGo(c *conversation) {
	_, bookless := e.cfg.Book.(noBook)
	if !c.busy && c.loadedIn == nil && (!bookless || !c.known) && !c.strange.any() && !c.blocked.Load() {
		delete(e.conversations, c.key)
	}
}

// Forget lets go of a conversation: its thread is unloaded, and a job that comes
// later asks the book for one. It returns [ErrBusy] if the conversation is in use,
// or a command of it still runs.
func (e *Executor) Forget(ctx context.Context, key string) error {
	return e.letGoOf(ctx, key, e.unload)
}

// Drop is Forget for a conversation that nobody wants to go on with: a command that
// it has left running does not keep it, but ends with its thread, within a
// minute.
func (e *Executor) Drop(ctx context.Context, key string) error {
	return e.letGoOf(ctx, key, e.unsubscribe)
}

// Delete has a codex that runs delete a thread which no conversation has any more, with what its
// databases know of it. Where none runs that is [ErrNoCodex].
func (e *Executor) Delete(ctx context.Context, thread string) error {
	on, _ := e.child.health()
	if on == nil {
		return ErrNoCodex
	}
	ctx, cancel := context.WithTimeout(ctx, e.cfg.Patience)
	defer cancel()
	err := on.ThreadDelete(ctx, thread)
	if err == nil {
		e.mu.Lock()
		delete(e.threads, thread)
		e.mu.Unlock()
	}
	return err
}

func (e *Executor) letGoOf(ctx context.Context, key string, unload func(context.Context, *conversation, *child)) error {
	e.mu.Lock()
	c := e.conversations[key]
	e.mu.Unlock()
	if c == nil {
		return nil
	}
	if !e.comesToRest(ctx, c) || !c.lock.TryLock() {
		return ErrBusy
	}
	defer c.lock.Unlock()
	if on, _ := e.child.health(); on != nil && e.isLoaded(c, on) {
		unload(ctx, c, on)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if c.busy || len(c.queue) > 0 || c.loadedIn != nil {
		return ErrBusy
	}
	delete(e.threads, c.threadID)
	if e.conversations[key] == c {
		delete(e.conversations, key)
	}
	return nil
}

// AtRest waits for the rest of the end of a conversation's last job, which its observer was told
// of. It reports whether the conversation is not in use.
func (e *Executor) AtRest(ctx context.Context, key string) bool {
	e.mu.Lock()
	c := e.conversations[key]
	e.mu.Unlock()
	return c == nil || e.comesToRest(ctx, c)
}

// comesToRest reports whether c is not in use. Whoever was told of the end of its
// last job takes it for that, so the rest of that end is waited for.
func (e *Executor) comesToRest(ctx context.Context, c *conversation) bool {
	e.mu.Lock()
	busy, idle := c.busy, c.idle
	ends := len(c.queue) == 0 && c.current != nil && c.current.told
	e.mu.Unlock()
	if !busy || !ends {
		return !busy
	}
	select {
	case <-idle:
		return true
	case <-ctx.Done():
		return false
	}
}

// take makes the first waiting job current, or ends the goroutine's turn of duty.
func (e *Executor) take(c *conversation) *job {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c.current != nil { // one is done, the next becomes the head
		c.current = nil
		e.heads++
	}
	if len(c.queue) == 0 {
		e.heads--
		c.queue, c.busy, c.lastUsed = nil, false, time.Now()
		close(c.idle)
		e.letGo(c)
		return nil
	}
	c.current, c.queue = c.queue[0], c.queue[1:]
	c.peer = c.current.Peer
	return c.current
}

// run brings one job to its end. What the model refuses meanwhile, for everybody, and
// starts of codex that fail have it wait and begin anew. It also returns the messages
// that its last turn has taken.
func (e *Executor) run(c *conversation, j *job) (end agent.Ended, taken []*job) {
	for {
		if away := e.gate(j); away != nil {
			e.headLeft()
			c.lock.Lock()
			defer c.lock.Unlock()
			away = e.cutShortOr(j, away)
			return *away, e.endSteers(c, j, away)
		}
		if end, taken := e.serveOnce(c, j); end != nil {
			return *end, taken
		}
		e.waitsAgain(j)
	}
}

// serveOnce waits for a slot, then makes attempts at the job. It returns no end if
// the job has to wait.
func (e *Executor) serveOnce(c *conversation, j *job) (end *agent.Ended, taken []*job) {
	var err error
	j.slot, err = e.slots.take(j.ctx, j.Peer)
	e.headLeft()
	if err == nil {
		defer j.slot.release()
		if e.hold.look().cause != nil { // it was closed while the job waited for its slot
			return nil, nil
		}
		if e.mayBegin(j) {
			j.standing.leave(j.observe)
		} else {
			j.slot.release() // a turn that is answered meanwhile is to end yet
			<-j.ctx.Done()
			err = context.Cause(j.ctx)
		}
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	if err == nil {
		err = e.recall(c, j)
	}
	if err != nil {
		before := e.beforeStart(causeOf(j.ctx, err))
		end = e.cutShortOr(j, &before)
	} else if end = e.attempts(c, j); end == nil {
		return nil, nil
	}
	return end, e.endSteers(c, j, end)
}

// waitsAgain puts a job back among those that wait.
func (e *Executor) waitsAgain(j *job) {
	e.mu.Lock()
	e.heads++
	e.countWaiting(1)
	e.noneOf(j)
	j.turned, j.closed = false, false // it takes no messages until it runs again
	// Of an attempt that was not looked at it is not known yet what has arrived.
	if j.Cut == nil {
		e.sendAgain(j)
	}
	e.mu.Unlock()
	j.standing.comeBack()
}

// headLeft counts the head of a queue that has got its slot, or given up.
func (e *Executor) headLeft() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heads--
	e.countWaiting(-1)
}
