package tasks

import (
	"sync/atomic"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// An eventLog is the append-only sequence of a task's events. It holds on to its last
// entry only; readers hold on to where they are, and an entry that no reader
// still needs is garbage. The log of a task that has ended lives as long as its
// last reader.
type eventLog struct {
	tail *entry // what was appended last; at first one without an event
	more signal // something was appended
}

// An entry is one event. Its next is set once.
type entry struct {
	event a2a.Event
	last  bool // no more will follow
	next  atomic.Pointer[entry]
}

func newLog() eventLog { return eventLog{tail: &entry{}} }

// append adds an event. The caller holds the task's lock.
func (l *eventLog) append(event a2a.Event, last bool) {
	e := &entry{event: event, last: last}
	l.tail.next.Store(e)
	l.tail = e
	l.more.fire()
}

// A signal wakes everybody who waits for it. Its zero value works; the owner's
// lock guards it.
type signal struct{ ch chan struct{} }

// wait returns a channel that the next fire closes.
func (s *signal) wait() <-chan struct{} {
	if s.ch == nil {
		s.ch = make(chan struct{})
	}
	return s.ch
}

func (s *signal) fire() {
	if s.ch != nil {
		close(s.ch)
		s.ch = nil
	}
}
