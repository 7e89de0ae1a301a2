package executor

import (
	"context"
	"fmt"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/insist"
)

// A Journal keeps the attempts at jobs, which have to outlive this process. What its methods have returned
// nil for survives its end: a process that is killed right after finds it there. Its
// methods are called concurrently.
type Journal interface {
	// Begin writes an attempt down, before the agent sees a byte of the message. After
	// an error the same attempt is begun again, until it works.
	Begin(ctx context.Context, a Attempt) error
	// Vanished notes that an attempt was cut off and is in no history, and returns how
	// many attempts at its job were. The same one counts once.
	Vanished(ctx context.Context, a Attempt) (int, error)
}

// An Attempt is one try at making a job a turn.
type Attempt struct {
	Job          string // Job.ID
	N            int    // from 1; every try has a number of its own, also one that the agent refused
	Conversation string // Job.Context
	Thread       string // where it runs
	Model        string // of the thread itself, where the attempt uses another: the agent would stay with that one
	Tools        string // names the set of tools that the thread was started with
}

// ClientID is what the attempt is called in the thread's history.
func (a Attempt) ClientID() string { return fmt.Sprintf("%s.%d", a.Job, a.N) }

// begin writes the next attempt at j down. While the journal cannot take it, the
// job keeps its place: nothing reaches the agent that the journal does not have.
func (e *Executor) begin(j *job, in Thread) error {
	next := Attempt{Job: j.ID, N: j.attempt.N + 1, Conversation: j.Context, Thread: in.ID, Tools: in.Tools}
	if j.Options.Model != "" {
		next.Model = in.Model
	}
	err := insist.Until(j.ctx, e.log, "begin an attempt", func(ctx context.Context) error {
		return e.cfg.Journal.Begin(ctx, next)
	}, j.journalFull)
	if err == nil {
		j.attempt = next
	}
	return err
}

// journalFull tells the sender of a message that the journal cannot be used.
func (j *job) journalFull() {
	j.observe(agent.Notice{Text: "The runtime cannot write to its disk, so it does not begin. It tries again until it can."})
}

// noJournal remembers nothing.
type noJournal struct{}

func (noJournal) Begin(context.Context, Attempt) error           { return nil }
func (noJournal) Vanished(context.Context, Attempt) (int, error) { return 0, nil }
