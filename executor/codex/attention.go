package codex

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
	alarms  map[error]*alarm
	closed  bool
}

func newAttention() *attention {
	a := &attention{alarms: map[error]*alarm{}}
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

// An alarm raises a cause when it is due. Most are put off long before, with every
// delta: the timer is left running then, and finds out when it fires.
type alarm struct {
	timer *time.Timer
	fires time.Time // zero if the timer does not run
	due   time.Time // zero if nothing is to be raised
}

// after raises cause once d has passed, in place of an earlier after of the
// same cause. Zero or less takes the alarm away.
func (a *attention) after(d time.Duration, cause error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	on := a.alarms[cause]
	switch {
	case a.closed:
	case d > 0:
		if on == nil {
			on = &alarm{}
			a.alarms[cause] = on
		}
		if on.due = time.Now().Add(d); on.fires.IsZero() || on.due.Before(on.fires) {
			a.armLocked(on, d, cause)
		}
	case on != nil:
		on.due = time.Time{}
	}
}

// armLocked starts the timer of an alarm.
func (a *attention) armLocked(on *alarm, d time.Duration, cause error) {
	on.fires = on.due
	if on.timer == nil {
		on.timer = time.AfterFunc(d, func() { a.fire(on, cause) })
		return
	}
	on.timer.Reset(d)
}

// fire is the timer of an alarm.
func (a *attention) fire(on *alarm, cause error) {
	a.mu.Lock()
	on.fires = time.Time{}
	left := time.Until(on.due)
	switch {
	case a.closed || on.due.IsZero():
	case left > 0:
		a.armLocked(on, left, cause)
	default:
		on.due = time.Time{}
		a.mu.Unlock()
		a.raise(cause)
		return
	}
	a.mu.Unlock()
}

// close stops every timer; no cause is raised any more.
func (a *attention) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	for _, on := range a.alarms {
		on.timer.Stop()
	}
	a.cancel()
}
