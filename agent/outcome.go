package agent

import (
	"context"
	"io"
	"time"
)

// Ended says how a message ended. It is always the last event.
type Ended struct {
	Outcome Outcome
	// Messages are those of the agent in order, from the final items
	// where there are any. They can be empty, also when Outcome is Completed.
	Messages []Message
	Diff     string // the unified diff of the whole turn; empty if nothing changed
	Usage    Usage
	// Tools says that a tool started in the last attempt, or that this cannot be
	// ruled out. A message that our own stop has ended without it is not settled: the
	// next process may take it up.
	Tools   bool
	Failure *Failure // set when Outcome is Failed, Interrupted or Rejected
	// Taken are the IDs of the messages that became part of the turn, in their
	// order. They end with this one: each is told an Ended after this, with
	// the outcome and nothing else.
	Taken []string
	// Folder has the files of the turn where these are not on this machine; nil where they are. It can be read until the
	// observer returns.
	Folder *Folder `json:"-"`
}

// A Folder has files of a turn that are not on this machine.
type Folder struct {
	Dir string // as the turn names it
	Cwd string // in which the turn has worked, in it
	// Open opens a file by its path below the folder, of so many bytes as it is opened, and says when it was changed. What
	// is read is to be closed, and ends with ctx.
	Open func(ctx context.Context, path string) (content io.ReadCloser, size int64, changed time.Time, err error)
}

// A Message is one finished message of the agent.
type Message struct {
	ItemID, Text string
	Phase        string // commentary, final_answer, or empty if the provider does not say
}

// Usage counts the tokens of a turn.
type Usage struct {
	InputTokens           int64 `json:"inputTokens"`
	CachedInputTokens     int64 `json:"cachedInputTokens"`
	OutputTokens          int64 `json:"outputTokens"`
	ReasoningOutputTokens int64 `json:"reasoningOutputTokens"`
	TotalTokens           int64 `json:"totalTokens"`
}

// Outcome is how a message ended.
type Outcome string

// The outcomes.
const (
	Completed   Outcome = "completed"
	Canceled    Outcome = "canceled"    // by its caller; nothing of it runs any more
	Failed      Outcome = "failed"      // the agent, the model or a timer ended it
	Interrupted Outcome = "interrupted" // the agent died or we stopped in mid-turn
	Rejected    Outcome = "rejected"    // refused for what it asks, before any of it was done
)

// A FailureKind says what a reader can do about a failure.
type FailureKind string

// The kinds of failure.
const (
	FailModel       FailureKind = "model"       // the model or the agent refused or broke off
	FailTimeout     FailureKind = "timeout"     // one of our timers; Failure.Timer names it
	FailUnreachable FailureKind = "unreachable" // the agent would not start, or died
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
	Code    string        // the agent's own name of the error, if it gave one

	Limit    string    // for FailLimit: which one, such as "5h", "usage" or "rate"
	ResetsAt time.Time // for FailLimit: when it ends; zero if that is not known
}

func (f *Failure) Error() string { return f.Message }

// A Limit is a span of time with an allowance.
type Limit struct {
	Name        string    `json:"name"`              // how long it is, such as "5h" or "7d"; or primary, secondary
	UsedPercent int       `json:"usedPercent"`       // of the allowance
	ResetsAt    time.Time `json:"resetsAt,omitzero"` // zero if it is not known
}
