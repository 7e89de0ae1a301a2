package logging

import (
	"bytes"
	"io"
	"log/slog"
	"sync"
	"time"
)

const (
	mostQueued   = 4 << 20     // bytes
	flushTimeout = time.Second // of Close
)

// A Queue is a writer in front of one whose reader may stand still: Write waits for nothing.
// One goroutine writes what is queued, in order. When the queue is full, lines are dropped
// until all of it has been written; then one line says how many were.
type Queue struct {
	to    io.Writer
	ended chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex // guards what follows
	changed *sync.Cond
	lines   [][]byte
	size    int // bytes in lines
	dropped int // lines since the queue was full
	closed  bool

	// The goroutine's own.
	lost int    // lines that were dropped, or not taken, and of which no line has told
	rest []byte // of a line that was taken in part
}

// NewQueue returns a queue in front of to, which is to be closed.
func NewQueue(to io.Writer) *Queue {
	q := &Queue{to: to, ended: make(chan struct{})}
	q.changed = sync.NewCond(&q.mu)
	go q.run()
	return q
}

// Write queues b, which is one line or several that belong together. It never fails.
func (q *Queue) Write(b []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return len(b), nil
	}
	if q.dropped > 0 || q.size > 0 && q.size+len(b) > mostQueued {
		q.dropped++
		return len(b), nil
	}
	q.lines, q.size = append(q.lines, bytes.Clone(b)), q.size+len(b)
	q.changed.Signal()
	return len(b), nil
}

// Close has what is queued written, but waits no longer than a second for it. What is
// written to the queue afterwards is dropped.
func (q *Queue) Close() {
	q.mu.Lock()
	q.closed = true
	q.changed.Signal()
	q.mu.Unlock()
	timeout := time.NewTimer(flushTimeout)
	defer timeout.Stop()
	select {
	case <-q.ended:
	case <-timeout.C:
	}
}

func (q *Queue) run() {
	defer close(q.ended)
	for {
		line, dropped, ok := q.next()
		if !ok {
			return
		}
		q.lost += dropped
		q.put(line)
	}
}

// next waits for a line, or, behind the last one, for how many lines were dropped. It reports
// false when the queue is closed and empty.
func (q *Queue) next() (line []byte, dropped int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.lines) == 0 && q.dropped == 0 && !q.closed {
		q.changed.Wait()
	}
	if len(q.lines) == 0 {
		dropped, q.lines, q.dropped = q.dropped, nil, 0
		return nil, dropped, dropped > 0
	}
	line, q.lines[0] = q.lines[0], nil
	q.lines, q.size = q.lines[1:], q.size-len(line)
	return line, 0, true
}

// put writes a line, if there is one, behind a word of those that were lost before it.
func (q *Queue) put(line []byte) {
	if q.lost > 0 && q.write(q.notice()) {
		q.lost = 0
	}
	if line != nil && (q.lost > 0 || !q.write(line)) {
		q.lost++
	}
}

// write reports whether a line is written, or has been begun: the rest of such a one comes
// ahead of the next.
func (q *Queue) write(line []byte) bool {
	ahead := len(q.rest)
	all := append(q.rest, line...)
	n, err := q.to.Write(all)
	switch {
	case err == nil:
		q.rest = nil
	case n > ahead:
		q.rest = all[n:]
	default:
		q.rest = all[n:ahead]
		return false
	}
	return true
}

// notice is the line that tells of those that were lost. It comes at any level of the log:
// what is missing has passed it.
func (q *Queue) notice() []byte {
	var b bytes.Buffer
	log := slog.New(sink(&b, slog.LevelWarn, IsTerminal(q.to)))
	log.Warn("lines of the log were dropped: what reads the log stood still", "lines", q.lost)
	return b.Bytes()
}
