package codex

import (
	"context"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/alarm"
)

// A wake is a cause that a turn raises for itself, and the name of the timer
// that raises it. timerGap is armed once the thread idles; once codex was asked to end
// the turn, timerAgain and timerGrace are; timerLimit is while codex waits for the end of a rate limit.
type wake string

func (w wake) Error() string { return string(w) }

const (
	timerGap   wake = "gap"   // the thread is idle, but the turn's end was not seen
	timerGrace wake = "grace" // codex was asked to end the turn and has not
	timerAgain wake = "again" // it is time to ask codex once more
	timerLimit wake = "limit" // a rate limit lasts

	wakeQuestion wake = "question" // codex asks something, or needs an answer no longer
)

// gapWait is how long the end of a turn may lag behind its thread's idling:
// turn/completed gets lost in the field (openai/codex 35810, 28495, 35847).
const gapWait = time.Second

// attention interrupts a turn's reading when something needs a decision: a
// cancel, a timer, the end of a grace period. Causes wait until they are taken;
// while one waits, the context that the reader waits on is over.
type attention struct {
	mu      sync.Mutex // guards the fields below
	ctx     context.Context
	cancel  context.CancelFunc
	pending []error
	alarms  map[error]*alarm.Alarm
	closed  bool
}

func newAttention() *attention {
	a := &attention{alarms: map[error]*alarm.Alarm{}}
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
// same cause. With zero or less, cause is not raised.
func (a *attention) after(d time.Duration, cause error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	on := a.alarms[cause]
	if on == nil {
		if d <= 0 || a.closed {
			return
		}
		on = alarm.New(func() { a.raise(cause) })
		a.alarms[cause] = on
	}
	on.After(d)
}

// close stops every timer; no cause is raised any more.
func (a *attention) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	for _, on := range a.alarms {
		on.Stop()
	}
	a.cancel()
}
