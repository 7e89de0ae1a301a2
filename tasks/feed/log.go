package feed

import (
	"slices"
	"sync/atomic"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/sizes"
)

// What the entries may take that readers of a task keep in memory, in bytes of events.
const (
	lookEach    = 64 << 10 // how much is published between two looks
	endedBehind = 64 << 10 // of a task that has ended, which is none of those that run any more
)

// A log is the append-only sequence of a task's events. It holds on to its last
// entry only; readers hold on to where they are, and an entry that no reader
// still needs is garbage. The log of a task that has ended lives as long as its
// last reader. Of a reader that is far behind the log lets go.
type log struct {
	tail    *entry // what was appended last; at first one without an event
	more    signal // something was appended
	readers []*Reader
	looked  int64 // the tail's size when they were looked at
}

// An entry is one event. Its next is set once.
type entry struct {
	event *Event
	at    Cursor
	size  int64 // about what it and all before it take
	last  bool  // no more will follow
	next  atomic.Pointer[entry]
}

// following is the cursor of the next event.
func (l *log) following(epoch int) Cursor { return Cursor{epoch, l.tail.at.Seq + 1} }

func (l *log) append(event a2a.Event, epoch int, last bool) {
	at := l.following(epoch)
	e := &entry{event: &Event{Event: event, ID: at.String(), Shared: true}, at: at, size: l.tail.size + int64(sizes.OfEvent(event)), last: last}
	l.tail.next.Store(e)
	l.tail = e
	l.more.fire()
}

// Following returns the cursor of the next event, in an epoch.
func (f *Feed) Following(epoch int) Cursor {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.log.following(epoch)
}

// LetGo lets go of the readers that are more than so many bytes behind, once in a while and
// at the end.
func (f *Feed) LetGo(most func() int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := &f.log
	if len(l.readers) == 0 || !l.tail.last && l.tail.size-l.looked < lookEach {
		return
	}
	l.looked = l.tail.size
	limit := most()
	if l.tail.last {
		limit = endedBehind
	}
	for _, r := range l.readers {
		if at := r.at.Load(); at != nil && l.tail.size-at.size > limit {
			r.at.Store(nil)
		}
	}
}

func (l *log) leave(r *Reader) {
	l.readers = slices.DeleteFunc(l.readers, func(other *Reader) bool { return other == r })
}
