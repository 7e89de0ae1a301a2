package executor

import (
	"context"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// An Order is what a turn is made for, as the driver sees it: one attempt at a message.
type Order struct {
	Attempt
	Options agent.Options
	Input   []agent.Input // of the turn; nil where it has none of ours, as one that compacts
	Trace   agent.TraceContext
	Peer    bool            // as [Job.Peer]
	Bridged bool            // as [Job.Bridged]
	Ctx     context.Context // ends with why the turn is to be ended
	To      Listener
}

// A Listener is told what becomes of a turn, by the goroutine that follows it.
type Listener interface {
	// Tell passes an event of the turn on.
	Tell(event agent.Event)
	// Arrived says that a further message stands in the history of the turn, by its attempt's name.
	Arrived(turnID, clientID string)
	// PassedOver takes that back, of a turn that has completed: the model was not asked with the message.
	PassedOver(clientID string)
	// Ending says that the turn takes no more messages, since it is being ended.
	Ending()

	// Park says that the turn does nothing until it is answered, Seize that the agent goes on with it
	// by itself. Resume asks for leave to go on with an answer, and reports whether it is there;
	// granted is called when it is.
	Park()
	Seize()
	Resume(granted func()) bool

	// Timers returns timers for the turn, or for one that is made to shorten its thread. When one has run out, late is
	// called, by another goroutine, with why the turn is to be ended.
	Timers(late func(*Timeout)) *Timers
}
