package executor

import "github.com/Molecule-AI/molecule-codex-runtime/agent"

// A listening is the listener of a job's turns.
type listening struct {
	e *Executor
	j *job
}

// Tell implements [Listener], as do the methods below.
func (l listening) Tell(event agent.Event) { l.j.observe(event) }

func (l listening) Arrived(turnID, clientID string) { l.e.arrived(l.j, turnID, clientID) }

func (l listening) PassedOver(clientID string) { l.e.passedOver(l.j, clientID) }

func (l listening) Ending() { l.e.closeToSteers(l.j) }

func (l listening) Timers(late func(*Timeout)) *Timers { return newTimers(&l.e.cfg, late) }

func (l listening) Park() { l.j.slot.park() }

func (l listening) Seize() { l.j.slot.seize() }

func (l listening) Resume(granted func()) bool { return l.j.slot.resume(granted) }

// order is what the newest attempt at j is made for.
func (e *Executor) order(j *job) Order {
	return Order{Attempt: j.attempt, Options: j.Options, Peer: j.Peer, Bridged: j.Bridged, Ctx: j.ctx, To: listening{e, j}}
}
