// Package alarm has timers that are mostly put off before they are due.
package alarm

import (
	"sync"
	"time"
)

// An Alarm calls a function when it is due. Most are put off long before, with every delta of a
// text: the timer is left running then, and finds out when it fires. Its methods may be
// called concurrently.
type Alarm struct {
	ring func()

	mu      sync.Mutex // guards the fields below
	timer   *time.Timer
	fires   time.Time // zero if the timer does not run
	due     time.Time // zero if it is not to ring
	stopped bool
}

// New returns an alarm that is not set. ring is called by a goroutine of its own.
func New(ring func()) *Alarm { return &Alarm{ring: ring} }

// After has the alarm ring once d has passed, and not when it was to ring before. With zero or less it
// does not ring.
func (a *Alarm) After(d time.Duration) {
	if d <= 0 {
		a.At(time.Time{})
		return
	}
	a.At(time.Now().Add(d))
}

// At is [Alarm.After] with the time at which the alarm is due; at the zero time it does not ring.
func (a *Alarm) At(due time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stopped {
		return
	}
	if a.due = due; !due.IsZero() && (a.fires.IsZero() || due.Before(a.fires)) {
		a.startLocked(time.Until(due))
	}
}

// Stop ends the alarm. A call of ring that has begun may still be under way.
func (a *Alarm) Stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stopped = true
	if a.timer != nil {
		a.timer.Stop()
	}
}

func (a *Alarm) startLocked(d time.Duration) {
	a.fires = a.due
	if a.timer == nil {
		a.timer = time.AfterFunc(d, a.fire)
		return
	}
	a.timer.Reset(d)
}

func (a *Alarm) fire() {
	if a.isDue() {
		a.ring()
	}
}

// isDue reports whether it is to ring now. If that was put off, the timer is started again.
func (a *Alarm) isDue() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fires = time.Time{}
	switch left := time.Until(a.due); {
	case a.stopped || a.due.IsZero():
		return false
	case left > 0:
		a.startLocked(left)
		return false
	}
	a.due = time.Time{}
	return true
}
