package executor

import (
	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// A Job is one message that is to become a turn.
type Job struct {
	// ID identifies the message; unique among the jobs that have not ended. It
	// may take several attempts, each of which is a turn of its own: attempt n is
	// sent to codex with the clientUserMessageId "<ID>.<n>", by which the thread's
	// history says what became of it.
	ID string
	// Context names the conversation; jobs of one context run one at a time, in
	// the order of their submission, on one thread.
	Context string
	Input   []agent.Input
	Options agent.Options
	// Size is about how many bytes the message takes until the job has ended. The bound on
	// them ([Config.MaxBytes]) counts it.
	Size int `json:",omitempty"`
	// Cut is the attempt in which an earlier process was cut off; nil if it never
	// began one. What became of it is found out before anything is done.
	Cut *Cut
	// Accepted says that an earlier process has accepted the job: the bounds on
	// waiting jobs do not apply to it.
	Accepted bool
	// Mute says that answers of its sender are not taken. What its turn asks waits for those of
	// others, of whom nobody is told that it does: only a few such turns may ([Config.MaxMute]).
	Mute bool `json:",omitempty"`
	// Bridged says that a program has handed the task over, whose people do not follow the turn: the model
	// is told that its own words are no leave.
	Bridged bool `json:",omitempty"`
	// Patient says that nobody stands and waits for the answer: where a limit of the
	// account is reached the job waits until it ends, and does not fail at once; so it does where
	// the agent cannot be started, for a time ([Config.StartWait]).
	Patient bool
	// Peer says that another agent, or a chat, sees what becomes of the job. Of a login that is missing
	// it learns that much, none is begun for it, and a page to be opened is not shown to it:
	// whoever carries these out has everything done with an account of theirs.
	Peer bool `json:",omitempty"`
	// Trace is what the job is part of, for those who trace: the agent is told with its turn,
	// unless [Config.Trace] knows better.
	Trace agent.TraceContext
	// Lend gives the agent what it reads by a path; nil leaves the input as it is.
	Lend agent.Lender `json:"-"`
}

// A Cut is an attempt that [Journal.Begin] has written down and whose end nobody saw.
type Cut struct {
	Attempt  int // its number, from 1
	ThreadID string
	Tool     bool // a tool of it is known to have started
}

// An Observer is told what becomes of a job. It is called from one goroutine
// at a time, in order: for each attempt a [agent.Started] and the events of its turn,
// and then exactly one [agent.Ended], which is the last. Mostly there is one attempt.
// A further Started says that the attempt before was cut off without having
// done anything, and is void with all that it has shown. A job that never got as
// far as a turn is only told Ended. An Observer must not block: the events of
// its thread wait while it runs. It may be called before Submit has returned.
// A [agent.Notice] may come at any time before the end, and while no turn of the job
// runs a [agent.Paused]. A further one takes its place; its [agent.Resumed] comes before the turn, and none
// before an end.
type Observer func(agent.Event)
