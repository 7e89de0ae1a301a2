package executor

import (
	"context"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// An order is what a turn is made for, as the driver sees it: one attempt at a message.
type order struct {
	Attempt
	options agent.Options
	input   []agent.Input // of the turn; nil where it has none of ours, as one that compacts
	trace   agent.TraceContext
	peer    bool            // as [Job.Peer]
	ctx     context.Context // ends with why the turn is to be ended
	to      listener
}

// A listener is told what becomes of a turn, by the goroutine that follows it.
type listener interface {
	// tell passes an event of the turn on.
	tell(event agent.Event)
	// arrived says that a further message stands in the history of the turn, by its attempt's name.
	arrived(turnID, clientID string)
	// ending says that the turn takes no more messages, since it is being ended.
	ending()

	// park says that the turn does nothing until it is answered, seize that codex goes on with it
	// by itself. resume asks for leave to go on with an answer, and reports whether it is there;
	// granted is called when it is.
	park()
	seize()
	resume(granted func()) bool
}

// A listening is the listener of a job's turns.
type listening struct {
	e *Executor
	j *job
}

// tell implements [listener], as do the methods below.
func (l listening) tell(event agent.Event) { l.j.observe(event) }

func (l listening) arrived(turnID, clientID string) { l.e.arrived(l.j, turnID, clientID) }

func (l listening) ending() { l.e.closeToSteers(l.j) }

func (l listening) park() { l.j.slot.park() }

func (l listening) seize() { l.j.slot.seize() }

func (l listening) resume(granted func()) bool { return l.j.slot.resume(granted) }

// order is what the newest attempt at j is made for.
func (e *Executor) order(j *job) order {
	return order{Attempt: j.attempt, options: j.Options, peer: j.Peer, ctx: j.ctx, to: listening{e, j}}
}
