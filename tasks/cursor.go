package tasks

import (
	"slices"
	"sync/atomic"
)

// What readers who are behind keep in memory, in bytes of events: so much for a task, or
// less where many tasks run. A reader that is further behind reads from the journal until
// it has caught up.
const (
	mostBehind  = 4 << 20   // of one task
	leastBehind = 256 << 10 // what each task may have, however many there are
	allBehind   = 32 << 20  // of all tasks
	lookEach    = 64 << 10  // how much is published between two looks
	endedBehind = 64 << 10  // of one that has ended, which is none of those that run any more
)

// A cursor is where a reader stands in a log. It keeps the entries behind it alive, until
// the log lets go of it.
type cursor struct {
	at   atomic.Pointer[entry] // that the reader has had last; nil once the log has let go of it
	last place                 // of that entry; the reader's own
}

// set moves the cursor to an entry.
func (c *cursor) set(e *entry) {
	c.at.Store(e)
	c.last = e.at
}

// advance moves the cursor from an entry to the next, unless the log has let go of it.
func (c *cursor) advance(from, to *entry) {
	c.at.CompareAndSwap(from, to)
	c.last = to.at
}

// join counts a cursor among those that the log looks after. The caller holds the task's lock.
func (l *eventLog) join(c *cursor) { l.cursors = append(l.cursors, c) }

// leave is the reverse of join. The caller holds the task's lock.
func (l *eventLog) leave(c *cursor) {
	l.cursors = slices.DeleteFunc(l.cursors, func(other *cursor) bool { return other == c })
}

// letGo lets go of the cursors that are more than so many bytes behind, once in a while and
// at the end. The caller holds the task's lock.
func (l *eventLog) letGo(most func() int64) {
	if len(l.cursors) == 0 || !l.tail.last && l.tail.size-l.looked < lookEach {
		return
	}
	l.looked = l.tail.size
	limit := most()
	if l.tail.last {
		limit = endedBehind
	}
	for _, c := range l.cursors {
		if at := c.at.Load(); at != nil && l.tail.size-at.size > limit {
			c.at.Store(nil)
		}
	}
}

// behind is how far a reader of one of the tasks may be behind.
func (e *Engine) behind() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return int64(max(leastBehind, min(mostBehind, allBehind/max(1, len(e.live)))))
}
