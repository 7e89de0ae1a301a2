package appserver

import (
	"fmt"
	"os"
	"sync"
	"time"
)

const (
	outboxLimit = 128 << 20 // bytes that may wait to be written
	writeChunk  = 64 << 10  // each chunk gets the whole deadline: slow is not deaf
)

// An outbox holds the lines that are to be written, so that nobody who sends
// waits for the child to read. One goroutine, [outbox.write], empties it.
type outbox struct {
	wake chan struct{} // 1-buffered; full when there may be something to do

	mu     sync.Mutex // guards the fields below
	lines  []outgoing
	bytes  int
	closed error // why no more lines are taken; nil while they are
}

type outgoing struct {
	call uint64 // 0 for what is no call
	text []byte // with its line end
}

func newOutbox() *outbox { return &outbox{wake: make(chan struct{}, 1)} }

func (o *outbox) add(line outgoing) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed != nil {
		return o.closed
	}
	if o.bytes+len(line.text) > outboxLimit {
		return errBacklog
	}
	o.lines = append(o.lines, line)
	o.bytes += len(line.text)
	o.notify()
	return nil
}

// drop forgets a call that has not been written yet.
func (o *outbox) drop(call uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, line := range o.lines {
		if line.call == call {
			o.lines = append(o.lines[:i], o.lines[i+1:]...)
			o.bytes -= len(line.text)
			return
		}
	}
}

// close takes no more lines. What is there is still written.
func (o *outbox) close(reason error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed == nil {
		o.closed = reason
	}
	o.notify()
}

func (o *outbox) notify() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// take waits for the next line; ok is false when the outbox is closed and empty.
func (o *outbox) take() (line outgoing, ok bool) {
	for {
		o.mu.Lock()
		if len(o.lines) > 0 {
			line = o.lines[0]
			o.lines[0] = outgoing{}
			o.lines = o.lines[1:]
			o.bytes -= len(line.text)
			o.mu.Unlock()
			return line, true
		}
		closed := o.closed != nil
		o.mu.Unlock()
		if closed {
			return outgoing{}, false
		}
		<-o.wake
	}
}

// write writes lines to f until the outbox is closed and empty, and closes f.
// It fails when the child reads nothing for as long as timeout, or not at all.
func (o *outbox) write(f *os.File, timeout time.Duration, wire Wire) error {
	defer f.Close() // a pipe that we only write to has nothing left to tell
	for {
		line, ok := o.take()
		if !ok {
			return nil
		}
		wire.Sent(withoutEnd(line.text))
		for rest := line.text; len(rest) > 0; {
			chunk := rest[:min(len(rest), writeChunk)]
			if err := f.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
				return fmt.Errorf("write: %w", err)
			}
			if _, err := f.Write(chunk); err != nil {
				return fmt.Errorf("write: %w", err)
			}
			rest = rest[len(chunk):]
		}
	}
}
