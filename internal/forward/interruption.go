package forward

import "time"

const (
	// heedTime is how long an endpoint has to heed an interruption. One that knows of none goes on with
	// its answer, and codex waits for its end.
	heedTime = 3 * time.Second
	// acceptedTime is how long an endpoint has to end an answer of which it has accepted the interruption.
	acceptedTime = time.Minute
)

// A wait is one for an interruption to be heeded.
type wait struct{ timer *time.Timer }

// interruptLocked notes that codex interrupts the answer. Nothing waits where the answer has come to its
// end meanwhile: the endpoint says nothing then, or that it is too late.
func (t *talk) interruptLocked() {
	if !t.owed || t.waits != nil {
		return
	}
	w := &wait{}
	w.timer = time.AfterFunc(heedTime, func() { t.unheeded(w) })
	t.waits = w
}

// unheeded is called when the time of an interruption is over.
func (t *talk) unheeded(w *wait) {
	t.mu.Lock()
	meant := t.waits == w // it may have been heeded just now
	t.mu.Unlock()
	if !meant || !t.ignored() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waits == w {
		w.timer.Reset(heedTime)
	}
}

func (t *talk) acceptedLocked() {
	if t.waits != nil {
		t.waits.timer.Reset(acceptedTime)
	}
}

// heeded ends the wait for an interruption to be heeded.
func (t *talk) heeded() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.heededLocked()
}

func (t *talk) heededLocked() {
	if t.waits != nil {
		t.waits.timer.Stop()
		t.waits = nil
	}
}
