package tasks

import (
	"fmt"
	"sync/atomic"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/sizes"
)

// A place is where an event stands among those of its task. Epochs are counted
// up whenever what was shown before may be shown anew: with each further attempt
// at a turn, and with each start of the program. Within one epoch there is no
// gap and no repetition.
type place struct {
	epoch int
	seq   int64 // counted over all epochs
}

// String renders a place as the id of an event: "<epoch>.<seq>".
func (p place) String() string { return fmt.Sprintf("%d.%d", p.epoch, p.seq) }

// parsePlace reads what String has made.
func parsePlace(id string) (p place, ok bool) {
	n, err := fmt.Sscanf(id, "%d.%d", &p.epoch, &p.seq)
	return p, n == 2 && err == nil && p.epoch > 0 && p.seq >= 0 && p.String() == id
}

// An eventLog is the append-only sequence of a task's events. It holds on to its last
// entry only; readers hold on to where they are, and an entry that no reader
// still needs is garbage. The log of a task that has ended lives as long as its
// last reader. Of a reader that is far behind the log lets go (cursor.go).
type eventLog struct {
	tail    *entry // what was appended last; at first one without an event
	more    signal // something was appended
	cursors []*cursor
	looked  int64 // the tail's size when they were looked at
}

// An entry is one event. Its next is set once.
type entry struct {
	event *Event
	at    place
	size  int64 // about what it and all before it take
	last  bool  // no more will follow
	next  atomic.Pointer[entry]
}

func newLog(at place) eventLog { return eventLog{tail: &entry{at: at}} }

// following is the place of the next event.
func (l *eventLog) following(epoch int) place { return place{epoch, l.tail.at.seq + 1} }

// append adds an event. The caller holds the task's lock.
func (l *eventLog) append(event a2a.Event, epoch int, last bool) {
	at := l.following(epoch)
	e := &entry{event: &Event{Event: event, ID: at.String(), Shared: true}, at: at, size: l.tail.size + int64(sizes.OfEvent(event)), last: last}
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
