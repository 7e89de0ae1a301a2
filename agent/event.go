package agent

import "time"

// An Event is one thing that becomes of a message: one of the types of this package that
// have the method.
type Event interface{ event() }

// Started says that the agent has taken the message as a turn.
type Started struct {
	ThreadID, TurnID string
	Model            string        // that answers, as far as it is known
	Machine          string        // where commands run; empty is this machine
	Cwd              string        // where commands start, as far as it is known
	Attempt          int           // which attempt at the message this turn is, from 1
	Replaced         bool          // this is a new thread, which does not know what was said on the one before: that was lost, or has other tools
	Waited           time.Duration // from the acceptance until the turn was started
}

// TextDelta is a piece of a message of the agent.
type TextDelta struct{ ItemID, Text string }

// ItemStarted says that an item began.
type ItemStarted struct {
	Item  Item
	Stray bool // something of an earlier turn began it: the message may run again all the same
}

// ItemCompleted says that an item ended; the item is whole, and repairs what
// deltas may have missed.
type ItemCompleted struct{ Item Item }

// ReasoningDelta is a piece of a reasoning summary.
type ReasoningDelta struct{ ItemID, Text string }

// PlanUpdated replaces the plan shown so far.
type PlanUpdated struct {
	Explanation string
	Steps       []PlanStep
}

// A PlanStep is one step of a plan. Its status is pending, inProgress or completed.
type PlanStep struct{ Step, Status string }

// DiffUpdated replaces the unified diff of the turn shown so far.
type DiffUpdated struct{ Diff string }

// Notice is something worth showing that is neither output nor failure: a
// retry of the model call, a rerouted model, a warning, a restart of the agent.
type Notice struct{ Text string }

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

// Paused says that the message has to wait, because the model would refuse it, or there is no machine for its commands: nothing
// of it runs. A further Paused takes the place of the one before.
type Paused struct {
	Kind FailureKind    // FailAuth: a login is needed; FailLimit, FailUnreachable: it goes on by itself
	Text string         // the reason in words, and what is to be done
	Data map[string]any // the same for programs, of plain JSON values
}

// Resumed says that the message is paused no more, and waits for its turn. An end comes without it, and so does the turn of
// one that waited for a machine.
type Resumed struct{}

// Steered says that the agent has taken the message into a turn that runs. A turn that is
// cut off before it gets to the message is followed by [Unsteered] all the same.
type Steered struct{ TurnID string }

// Unsteered says that the turn which the message was handed to is none that will
// answer it: it waits for a turn of its own.
type Unsteered struct{ Ahead int } // turns that come first

func (Started) event()        {}
func (TextDelta) event()      {}
func (ItemStarted) event()    {}
func (ItemCompleted) event()  {}
func (ReasoningDelta) event() {}
func (PlanUpdated) event()    {}
func (DiffUpdated) event()    {}
func (Notice) event()         {}
func (Question) event()       {}
func (Answered) event()       {}
func (Produced) event()       {}
func (Paused) event()         {}
func (Resumed) event()        {}
func (Steered) event()        {}
func (Unsteered) event()      {}
func (Ended) event()          {}
