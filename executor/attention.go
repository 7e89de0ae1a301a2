package executor

import (
	"context"
	"sync"
	"time"
)

// attention interrupts a turn's reading when something needs a decision: a
// cancel, a timer, the end of a grace period. Causes wait until they are taken;
// while one waits, the context that the reader waits on is over.
type attention struct {
	mu      sync.Mutex // guards the fields below
	ctx     context.Context
	cancel  context.CancelFunc
	pending []error
	timers  map[error]*time.Timer
	closed  bool
}

func newAttention() *attention {
	a := &attention{timers: map[error]*time.Timer{}}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	return a
}

// context returns the context to wait on until the next cause.
func (a *attention) context() context.Context {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ctx
}

// raise adds a cause.
func (a *attention) raise(cause error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	a.pending = append(a.pending, cause)
	a.cancel()
}

// take returns the causes raised since the last take and opens a new context.
func (a *attention) take() []error {
	a.mu.Lock()
	defer a.mu.Unlock()
	causes := a.pending
	a.pending = nil
	if !a.closed {
		a.ctx, a.cancel = context.WithCancel(context.Background())
	}
	return causes
}

// after raises cause once d has passed, in place of an earlier after of the
// same cause. Zero or less takes the timer away.
func (a *attention) after(d time.Duration, cause error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	timer := a.timers[cause]
	switch {
	case a.closed:
	case d <= 0:
		if timer != nil {
			timer.Stop()
		}
	case timer != nil:
		timer.Reset(d)
	default:
		a.timers[cause] = time.AfterFunc(d, func() { a.raise(cause) })
	}
}

// close stops every timer; no cause is raised any more.
func (a *attention) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	for _, timer := range a.timers {
		timer.Stop()
	}
	a.cancel()
}
