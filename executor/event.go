package executor

import (
	"context"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
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
	Input   []appserver.UserInput
	Options Options
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
	// Patient says that nobody stands and waits for the answer: where a limit of the
	// account is reached the job waits until it ends, and does not fail at once; so it does where
	// codex cannot be started, for a time ([Config.StartWait]).
	Patient bool
	// Peer says that another agent, or a chat, sees what becomes of the job. Of a login that is missing
	// it learns that much, none is begun for it, and a page to be opened is not shown to it:
	// whoever carries these out has everything done with an account of theirs.
	Peer bool `json:",omitempty"`
	// Trace is what the job is part of, for those who trace: codex is told with its turn,
	// unless [Config.Trace] knows better.
	Trace appserver.TraceContext
	// Lend gives codex what it reads by a path; nil leaves the input as it is.
	Lend Lender `json:"-"`
}

// A Lender makes of the input of an attempt what codex is given of it, which may have more
// or fewer parts. Its paths are good until giveBack is called, at the end of the turn. It may
// be called once more for each further attempt. When ctx ends, what it has made by then is
// not used.
type Lender func(ctx context.Context, input []appserver.UserInput) (lent []appserver.UserInput, giveBack func())

// A Cut is an attempt that [Book.Begin] has written down and whose end nobody saw.
type Cut struct {
	Attempt  int // its number, from 1
	ThreadID string
	Tool     bool // a tool of it is known to have started
}

// An Observer is told what becomes of a job. It is called from one goroutine
// at a time, in order: for each attempt a [Started] and the events of its turn,
// and then exactly one [Ended], which is the last. Mostly there is one attempt.
// A further Started says that the attempt before was cut off without having
// done anything, and is void with all that it has shown. A job that never got as
// far as a turn is only told Ended. An Observer must not block: the events of
// its thread wait while it runs. It may be called before Submit has returned.
// A [Notice] may come at any time before the end, and while no turn of the job
// runs a [Held] and, before anything else, its [Released].
type Observer func(Event)

// An Event is one of the types below. An [Executor] makes all of them but
// [Produced], which is for runners whose turns can hand things out.
type Event interface{ event() }

// Started says that codex has taken the job as a turn.
type Started struct {
	ThreadID, TurnID string
	Model            string        // that answers, as far as codex has said
	Attempt          int           // which attempt at the job this turn is, from 1
	Replaced         bool          // this is a new thread, which does not know what was said on the one before: that was lost, or has other tools
	Waited           time.Duration // from Submit until the turn was started
}

// TextDelta is a piece of an agent message.
type TextDelta struct{ ItemID, Text string }

// ItemStarted says that an item of any kind but userMessage and hookPrompt began.
type ItemStarted struct {
	Item  appserver.Item
	Stray bool // a script of an earlier turn began it: the job's message may run again all the same
}

// ItemCompleted says that an item ended; the item is whole, and repairs what
// deltas may have missed.
type ItemCompleted struct{ Item appserver.Item }

// ReasoningDelta is a piece of a reasoning summary.
type ReasoningDelta struct{ ItemID, Text string }

// PlanUpdated replaces the plan shown so far.
type PlanUpdated struct {
	Explanation string
	Steps       []appserver.PlanStep
}

// DiffUpdated replaces the unified diff of the turn shown so far.
type DiffUpdated struct{ Diff string }

// Notice is something worth showing that is neither output nor failure: a
// retry of the model call, a rerouted model, a warning, a restart of codex.
type Notice struct{ Text string }

// Asked says that the turn waits for its sender to answer a question. The job
// stays open meanwhile, and its turn goes on with the answer.
type Asked struct {
	// ID names the question. It is that of the turn with a number behind it, so no
	// other question ever has it.
	ID       string
	Kind     string         // what it is about: command, fileChange, permissions, input, tool, form, link
	Text     string         // the question in words
	Accepts  string         // in words, how to answer it; may be empty
	Data     map[string]any // question and answers for programs, of plain JSON values; may be nil
	Deadline time.Time      // when it is declined; the zero time is never
}

// Answered says that a question is open no more: codex has the answer, it expired,
// or the answer is not needed any longer. The end of a turn closes what it has
// asked without a word.
type Answered struct {
	ID   string
	Note string // a sentence for the sender, if it was not answered; may be empty
}

// Produced is something that a turn hands out beside its messages: a file, or
// data. Exactly one of Bytes, URL and Data is set.
type Produced struct {
	ID        string
	Name      string // the name of a file, or what the data is
	MediaType string
	Bytes     []byte
	URL       string
	Data      any // plain JSON values
}

// An Answer is a message that answers a question of a job that is open.
type Answer struct {
	ID       string // identifies the message, as Job.ID does
	Question string // the ID of the question
	Input    []appserver.UserInput
	Text     string // of the message's text parts
	Data     any    // of the message's first data part; nil if it has none
	Files    bool   // the message has some
}

// Held says that the job has to wait, because the model would refuse it: nothing
// of it runs. A further Held takes the place of the one before.
type Held struct {
	Kind FailureKind    // FailAuth: somebody has to log in; FailLimit: it goes on by itself
	Text string         // the reason in words, and what is to be done
	Data map[string]any // the same for programs, of plain JSON values

	login   *login // that Text speaks of; nil if there is none
	peers   *Held  // is told to jobs of other agents in the place of this; nil if nothing is
	unbegun bool   // only those are told: a login is begun for the first job of the user's
}

// Released says that the job is held no more, and waits for its turn.
type Released struct{}

// Steered says that codex has taken the message, which [Executor.Steer] handed to
// a running turn, into that turn. A turn that is cut off before it gets to the
// message is followed by [Unsteered] all the same.
type Steered struct{ TurnID string }

// Unsteered says that the turn which the message was handed to is none that will
// answer it: it waits for a turn of its own.
type Unsteered struct{ Ahead int } // turns that come first

// Ended says how the job ended. It is always the last event of a job.
type Ended struct {
	Outcome Outcome
	// Messages are the agent messages of the turn in order, from the final items
	// where there are any. They can be empty, also when Outcome is Completed.
	Messages []AgentMessage
	Diff     string // the unified diff of the whole turn; empty if nothing changed
	Usage    appserver.TokenUsage
	// Tools says that a tool started in the last attempt, or that this cannot be
	// ruled out. A job that our own stop has ended without it is not settled: the
	// next process may take it up, with [Job.Cut] if an attempt was begun.
	Tools   bool
	Failure *Failure // set when Outcome is Failed, Interrupted or Rejected
	// Taken are the IDs of the messages that became part of the turn, in their
	// order. Their jobs end with this one: each is told an Ended after this, with
	// the outcome and nothing else.
	Taken []string
}

// An AgentMessage is one finished message of the agent.
type AgentMessage struct {
	ItemID, Text string
	Phase        string // commentary, final_answer, or empty if the provider does not say
}

// Outcome is how a job ended.
type Outcome string

// The outcomes of a job.
const (
	Completed   Outcome = "completed"
	Canceled    Outcome = "canceled"    // by Cancel; nothing of it runs any more
	Failed      Outcome = "failed"      // codex, the model or a timer ended it
	Interrupted Outcome = "interrupted" // the child died or we stopped in mid-turn
	Rejected    Outcome = "rejected"    // refused for what it asks, before any of it was done
)

// A FailureKind says what a reader can do about a failure.
type FailureKind string

// The kinds of failure.
const (
	FailModel       FailureKind = "model"       // the model or codex refused or broke off
	FailTimeout     FailureKind = "timeout"     // one of our timers; Failure.Timer names it
	FailUnreachable FailureKind = "unreachable" // codex would not start, or died
	FailAuth        FailureKind = "auth"        // no credential, or a refused one
	FailLimit       FailureKind = "limit"       // usage or rate limit
	FailContext     FailureKind = "context"     // the context window is full
	FailShutdown    FailureKind = "shutdown"    // this runtime is stopping
)

// A Failure explains an end that is not a completion. Message is fit for the
// person who sent the message: it holds no internals and says what to do
// where something can be done.
type Failure struct {
	Kind    FailureKind
	Message string
	Timer   string        // for FailTimeout: "turn", "idle" or "item"
	After   time.Duration // for FailTimeout: the timer's length
	Code    string        // codex's own name of the error, if it gave one

	Limit    string    // for FailLimit: which one, such as "5h", "usage" or "rate"
	ResetsAt time.Time // for FailLimit: when it ends; zero if that is not known
}

func (f *Failure) Error() string { return f.Message }

func (Started) event()        {}
func (TextDelta) event()      {}
func (ItemStarted) event()    {}
func (ItemCompleted) event()  {}
func (ReasoningDelta) event() {}
func (PlanUpdated) event()    {}
func (DiffUpdated) event()    {}
func (Notice) event()         {}
func (Asked) event()          {}
func (Answered) event()       {}
func (Produced) event()       {}
func (Held) event()           {}
func (Released) event()       {}
func (Steered) event()        {}
func (Unsteered) event()      {}
func (Ended) event()          {}
