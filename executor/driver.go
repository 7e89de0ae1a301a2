package executor

import (
	"context"
	"errors"
	"sync"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// A Driver has an agent carry turns out. Where the agent fails, the errors of Ready, and of a session and of Follow, are a
// [Trouble]; any other of theirs says that the caller's context has ended. Its methods are called concurrently.
type Driver interface {
	// Serve begins the work for a scheduler, and returns at once. It is called once, before all others. The
	// work is over when ctx ends, with [ErrShutdown].
	Serve(ctx context.Context, host Host)
	// Ready waits until the agent has been started.
	Ready(ctx context.Context) error
	// Open returns the session of a context, which is kept until it is closed as often.
	Open(context string) Session
	// Answer gives the answer to a question that the turn of a job has asked. It returns
	// [ErrNotAsked] if that is not open, and an [agent.NotUnderstoodError] leaves it open.
	Answer(job string, a agent.Answer) error
	// Idle is called while no turn is begun, and none begins before it has returned. It must not block, nor call
	// the [Host].
	Idle()
	// Close ends the agent and all that the driver has begun, and returns when they are gone. Served is
	// closed once no turn is served any more. After the end of ctx the agent is killed, which ends those that
	// are, and the error says so.
	Close(ctx context.Context, served <-chan struct{}) error

	Credential
	Shown
}

// A Credential is what the agent comes to the model with.
type Credential interface {
	// Probe finds out whether the model answers. It returns why that refuses, or nil.
	Probe(ctx context.Context) (*Refusal, error)
	// AwaitLogin waits for a credential that the model takes, which has refused the one that there is. What
	// waiting jobs are to be told it shows, whenever that is something new and only then, for they come by wake
	// when they are shown something; it looks again when something comes by that. It returns
	// what the model refuses for instead, if it comes to that; ok is false if we are closing.
	AwaitLogin(r *Refusal, wake <-chan struct{}, show func(*Pause)) (other *Refusal, ok bool)
	// Watch returns a function that reports whether the credential is another one than when it was
	// called last. It is called from one goroutine.
	Watch() (exchanged func() bool)
}

// A Session is what an agent keeps of a context. Its Locker is the turn lock: it is held while a
// job is served, and by a driver that lets the conversation go. The methods are called under it, but
// for Next and Close, which must not block; Close must not call the [Host], either.
type Session interface {
	sync.Locker
	// Next notes whose message comes next: another agent's, or not.
	Next(peer bool)
	// Close lets go of it.
	Close()

	// Recall finds out where the context was carried on before this process, once. If cut, an attempt is to be
	// looked up there. While its journal cannot be read it waits, and says so by full.
	Recall(ctx context.Context, cut bool, full func()) error
	// Prepare gets all ready for a turn, and says where that will be.
	Prepare(ctx context.Context, o agent.Options) (Thread, error)
	// Start begins a turn. Prepare comes before it, and the attempt stands in the [Journal] by then.
	Start(of Order) (Turn, error)
	// LookUp finds out what became of an attempt, of whose turn this process has seen so much; nil for nothing.
	LookUp(ctx context.Context, of Attempt, seen Turn) (Finding, error)
	// In moves the session to the thread of an attempt. If it has a newer one, back returns to that.
	In(thread string) (back func())
}

// A Thread is where the turns of a context run.
type Thread struct {
	ID    string
	Model string // its own
	Tools string // as [Attempt.Tools]
}

// A Turn is one that has begun. It is followed by one goroutine, which calls its other methods behind
// Follow; Steer is called meanwhile, by another.
type Turn interface {
	// Begun says what has begun.
	Begun() Begun
	// Follow tells the [Listener] of the turn what becomes of it until it has ended. A [Trouble] of the kind
	// [WasCut] says that it is to be found out how. It tells the timers of the turn ([Listener.Timers]) of each sign
	// of life, and ends the turn when one has run out.
	Follow() (*Result, error)
	// Steer offers a further message to the turn. [ErrNotTaken] says that it was not taken; after any other
	// error that is to be found out.
	Steer(ctx context.Context, as Attempt, input []agent.Input) error

	// Keep has the turn stand as the attempt at its message. What of it would be in the way of the turns
	// after it is taken back, and said in end. TooLong says that the message has no room.
	Keep(end *agent.Ended, tooLong bool)
	// Void has it be none: its message is attempted again.
	Void()
	// Shorten makes room for a message by a summary of what was before it, and takes the turn back. It
	// returns why the model refuses that, if so.
	Shorten(end *agent.Ended) (*Refusal, error)
	// Leave ends what the turn has left running and should not have, by its end.
	Leave(end *agent.Ended)

	// SoFar is what it has shown. Tools says of a tool that it was seen to start.
	SoFar() agent.Ended
	// HasWorked reports whether a tool of it has started, or that cannot be ruled out.
	HasWorked() bool
}

// A Begun is a turn that has begun.
type Begun struct {
	Thread, Turn string
	Model        string // that answers, where the message names none
	Machine      string // where commands run; empty is this machine
	Cwd          string // where commands start, where the message names no folder; empty if that is not known
	Fresh        bool   // the thread is without the history of its context
	Notices      []string
}

// A Result is how a turn has ended.
type Result struct {
	End     *agent.Ended
	Refused *Refusal // why it has failed, if the model has refused the message
	Full    bool     // the message had no room in its thread
}

// ErrNotTaken is what [Turn.Steer] returns if the agent does not take the message into the turn.
var ErrNotTaken = errors.New("the turn does not take the message")
