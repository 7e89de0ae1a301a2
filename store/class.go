package store

import "time"

// A Class is what an ended task is counted among when there are too many. Each class has
// the bound by number for itself: what is made by the thousand in seconds, without codex,
// takes no place from a task that codex has worked for.
type Class int8

const (
	// Unrun is a task for which no turn was begun: its messages were canceled while they
	// waited, or refused, or are commands that must not be carried out twice.
	Unrun Class = iota
	// UnrunOfPeer is the same of another agent's.
	UnrunOfPeer
	// Harmless is a task whose message may be carried out twice: it is a question to the
	// runtime itself.
	Harmless
	// ran is a task for which a turn was begun, whatever it was made as. The store sees to that.
	ran

	classes
)

// classOf is a class as the database has it. One that is none there is damage, and no reason
// to forget a task.
func classOf(n int64) Class {
	if n < 0 || n >= int64(classes) {
		return ran
	}
	return Class(n)
}

// unrun are the classes without turns, which cost their senders nothing.
var unrun = []Class{Unrun, UnrunOfPeer, Harmless} //nolint:gochecknoglobals // a constant

// spared is how long, since its end, a task of the class is not taken for the number of them.
func (c Class) spared() time.Duration {
	switch c {
	case ran: // its message, sent again, would run again; how many there are is for codex to bound
		return fresh
	case Harmless:
		return 0
	}
	return freshly
}
