package appserver

import "sync"

// A queue holds the notifications of one thread until its subscriber takes
// them. It never makes the reading goroutine wait: what does not fit is dropped
// if it is a delta. The rest has more room, and no more than that: nobody reads what is told of a
// thread in which no turn runs, until the next one. What is dropped stands in its history.
type queue struct {
	threadID string
	limit    int // bytes

	mu    sync.Mutex // guards the fields below
	items []Notification
	head  int // items before it have been taken
	bytes int
	gap   bool // the last thing that came was dropped, and that has been noted
	hole  bool // and it was no delta
	owner *Subscription
	held  bool  // kept for the next Subscribe though it may have no owner
	gone  bool  // takes nothing any more
	ended error // why nothing comes any more; set when the child is gone
}

// mostBeyond is how many bytes a queue may hold of what is no delta, beside its limit, and as many
// again of what is small, as the begin and the end of a turn are: who waits for them is not to wait
// in vain.
const (
	mostBeyond = 16 << 20
	small      = 4 << 10
)

// room is how many bytes there may be with n, which is no delta.
func (q *queue) room(n Notification) int {
	if n.cost() <= small {
		return q.limit + 2*mostBeyond
	}
	return q.limit + mostBeyond
}

// push appends n and reports whether the queue took it, and whether it was a delta that was dropped.
func (q *queue) push(n Notification) (taken, dropped bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.gone {
		return false, false
	}
	full, delta := q.bytes > 0 && q.bytes+n.cost() > q.limit, isDelta(n.Method)
	switch {
	case full && delta:
		if !q.gap {
			q.gap = true
			q.addLocked(overflow(q.threadID, OverflowNote{Method: n.Method, Deltas: true}))
		}
		return true, true
	case full && q.bytes+n.cost() > q.room(n):
		if !q.hole {
			q.gap, q.hole = true, true
			q.addLocked(overflow(q.threadID, OverflowNote{Method: n.Method}))
		}
		return true, false
	}
	q.gap, q.hole = false, false
	q.addLocked(n)
	return true, false
}

// addLocked appends n.
func (q *queue) addLocked(n Notification) {
	if q.head > 64 && q.head > len(q.items)/2 {
		kept := copy(q.items, q.items[q.head:])
		clear(q.items[kept:])
		q.items, q.head = q.items[:kept], 0
	}
	q.items = append(q.items, n)
	q.bytes += n.cost()
	if q.owner != nil && len(q.items)-q.head == 1 {
		q.owner.notify()
	}
}

// popLocked takes the first item.
func (q *queue) popLocked() (n Notification, ok bool) {
	if q.head == len(q.items) {
		return Notification{}, false
	}
	n = q.items[q.head]
	q.items[q.head] = Notification{}
	q.head++
	q.bytes -= n.cost()
	if q.head == len(q.items) {
		q.head = 0
		if q.items = q.items[:0]; cap(q.items) > 4096 {
			q.items = nil // after a flood
		}
	}
	return n, true
}

// end tells the subscriber that nothing comes any more.
func (q *queue) end(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = err
	if q.owner != nil {
		q.owner.notify()
	}
}
