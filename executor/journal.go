package executor

import (
	"context"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

// A Journal keeps what has to outlive this process. What its methods have returned
// nil for survives its end: a process that is killed right after finds it there. Its
// methods are called concurrently.
type Journal interface {
	// Past returns what is known of a conversation; the zero Past if it never began an
	// attempt.
	Past(ctx context.Context, conversation string) (Past, error)
	// ConversationUsed reports whether a job of a conversation has had its turn: then the loss
	// of its thread is one. It is asked where this cannot be told otherwise.
	ConversationUsed(ctx context.Context, conversation string) (bool, error)
	// Begin writes an attempt down, before codex sees a byte of the message. After
	// an error the same attempt is begun again, until it works.
	Begin(ctx context.Context, a Attempt) error
	// Vanished notes that an attempt was cut off and is in no history, and returns how
	// many attempts at its job were. The same one counts once.
	Vanished(ctx context.Context, a Attempt) (int, error)
	// ThreadUsed reports whether a job has had its turn in a thread: then the thread was
	// on disk, and it is no accident if it is not.
	ThreadUsed(ctx context.Context, threadID string) (bool, error)
	// Threads returns every thread of which an attempt was begun. Commands that a
	// killed process has left running on them are ended at the start.
	Threads(ctx context.Context) (threadIDs []string, err error)
	// RecordInstructions notes by a digest which instructions a thread has heard. An attempt on it
	// was begun.
	RecordInstructions(ctx context.Context, threadID, digest string) error
}

// A Past is what a [Journal] knows of a conversation. It is asked for as one thing: a
// conversation's first turn waits for it.
type Past struct {
	Thread string // of the newest attempt
	Model  string // [Attempt.Model] of the newest attempt in that thread that has one
	Tools  string // [Attempt.Tools] of the newest attempt
	Told   string // what [Journal.RecordInstructions] was last given for the thread
}

// An Attempt is one try at making a job a turn.
type Attempt struct {
	Job          string // Job.ID
	N            int    // from 1; every try has a number of its own, also one that codex refused
	Conversation string // Job.Context
	Thread       string // where it runs
	Model        string // of the thread itself, where the attempt uses another: codex would stay with that one
	Tools        string // the set of tools that the thread was started with, see toolSet
}

// clientID is what the attempt is called in the thread's history.
func (a Attempt) clientID() string { return fmt.Sprintf("%s.%d", a.Job, a.N) }

// journalFull is what the sender of a message reads while the journal cannot be used.
const journalFull = "The runtime cannot write to its disk, so it does not begin. It tries again until it can."

// begin writes the next attempt at j down. While the journal cannot take it, the
// job keeps its place: nothing reaches codex that the journal does not have.
func (e *Executor) begin(c *conversation, j *job) error {
	next := Attempt{Job: j.ID, N: j.attempt.N + 1, Conversation: c.key, Thread: c.threadID, Tools: c.tools}
	if j.Options.Model != "" {
		next.Model = c.own.model
	}
	err := e.insist(j.ctx, "begin an attempt", func(ctx context.Context) error {
		return e.cfg.Journal.Begin(ctx, next)
	}, func() { j.observe(agent.Notice{Text: journalFull}) })
	if err == nil {
		j.attempt = next
	}
	return err
}

// recall asks the journal for the thread of a conversation that is new to this
// process.
func (d *driver) recall(c *conversation, j *job) error {
	if c.recalled {
		return nil
	}
	err := d.insist(j.ctx, "find a thread", func(ctx context.Context) error {
		past, err := d.cfg.Journal.Past(ctx, c.key)
		if err != nil {
			return err
		}
		c.threadID, c.own.model, c.tools = past.Thread, past.Model, past.Tools
		c.heard.known, c.heard.kept = past.Told, past.Told
		c.resumable = c.threadID != ""
		c.history = c.resumable
		if j.Cut != nil && c.resumable {
			// A cut attempt may be the first turn of its thread, which codex had no
			// time to write down. Only what was before it can be lost.
			c.history, err = d.cfg.Journal.ConversationUsed(ctx, c.key)
		}
		return err
	}, func() { j.observe(agent.Notice{Text: journalFull}) })
	c.recalled = err == nil
	return err
}

// firstStart ends what a process before this one has left running, before
// anything is made of the turns that it was cut off in.
func (d *driver) firstStart(ctx context.Context) {
	var threads []string
	err := d.insist(ctx, "list the threads", func(ctx context.Context) (err error) {
		threads, err = d.cfg.Journal.Threads(ctx)
		return err
	}, func() {})
	if err != nil { // we are closing
		return
	}
	d.mu.Lock()
	for _, id := range threads {
		d.threads[id] = true
	}
	d.mu.Unlock()
	if len(threads) > 0 {
		d.endAllLeftovers()
	}
}

// insist does something with the journal until it works, telling once that it does
// not. It returns the cause of ctx if that ends first.
func (d *driver) insist(ctx context.Context, what string, try func(context.Context) error, tell func()) error {
	delay := newBackOff()
	for told := false; ; told = true {
		err := try(ctx)
		if err == nil {
			return nil
		}
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if !told {
			tell()
		}
		d.log.Error("the journal does not work and is tried again", "what", what, "err", err)
		if !sleep.For(ctx, delay.NextBackOff()) {
			return context.Cause(ctx)
		}
	}
}

// newBackOff returns the delays between tries of what has to work in the end.
func newBackOff() *backoff.ExponentialBackOff {
	delay := &backoff.ExponentialBackOff{
		InitialInterval: backoffFirst, MaxInterval: backoffMost, Multiplier: 2, RandomizationFactor: 0.2,
	}
	delay.Reset()
	return delay
}

// The delays between a failure and the next try: of the child's start, or death,
// and of the journal.
const (
	backoffFirst = 250 * time.Millisecond
	backoffMost  = 30 * time.Second
)

// noJournal remembers nothing.
type noJournal struct{}

func (noJournal) Past(context.Context, string) (Past, error)               { return Past{}, nil }
func (noJournal) ConversationUsed(context.Context, string) (bool, error)   { return false, nil }
func (noJournal) ThreadUsed(context.Context, string) (bool, error)         { return false, nil }
func (noJournal) Begin(context.Context, Attempt) error                     { return nil }
func (noJournal) Vanished(context.Context, Attempt) (int, error)           { return 0, nil }
func (noJournal) Threads(context.Context) ([]string, error)                { return nil, nil }
func (noJournal) RecordInstructions(context.Context, string, string) error { return nil }
