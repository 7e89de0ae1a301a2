package store

import "sync"

// A queue holds what the writer is to do.
type queue struct {
	wake chan struct{} // holds a token when there is something to look at

	mu     sync.Mutex // guards the fields below
	ops    []*operation
	closed bool
}

func newQueue() queue { return queue{wake: make(chan struct{}, 1)} }

func (q *queue) put(op *operation) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.ops = append(q.ops, op)
	q.signal()
	return true
}

// idle reports whether nothing waits and more may come.
func (q *queue) idle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.ops) == 0 && !q.closed
}

// putBack returns operations that were taken to the front.
func (q *queue) putBack(ops []*operation) {
	if len(ops) == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ops = append(ops, q.ops...)
	q.signal()
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.signal()
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take removes the next operations. None and closed means that there will be no more.
func (q *queue) take() (ops []*operation, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.ops), maxGroup)
	ops, q.ops = q.ops[:n:n], q.ops[n:]
	if len(q.ops) == 0 {
		q.ops = nil // do not hold on to what has been done
	}
	return ops, q.closed
}
