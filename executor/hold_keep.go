package executor

import (
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

const (
	// limitMost is the longest time between two probes of a limit whose end is not known.
	limitMost = 60 * time.Second
	// believed is how long a limit is believed that all have: then it is looked at, whatever it
	// said of its end. More may have been bought meanwhile.
	believed = 15 * time.Minute
	// longest is the same of a limit that one job has met.
	longest = 24 * time.Hour
	// lookEvery is how often the wall clock is looked at: it may be set meanwhile.
	lookEvery = 15 * time.Second
)

// keep runs while the hold is closed, and opens it again.
func (h *hold) keep() {
	for again := true; again; {
		if cause := h.look().cause; cause.Kind == agent.FailAuth {
			again = h.keepLogin(cause)
		} else {
			again = h.keepLimit(cause)
		}
	}
}

// keepLogin waits until there is a credential that the model takes. It reports whether the hold
// goes on because of something else.
func (h *hold) keepLogin(r *Refusal) (again bool) {
	other, ok := h.by.AwaitLogin(r, h.wake, h.show)
	switch {
	case !ok:
		return false
	case other != nil:
		h.turnTo(other)
		return true
	}
	h.release()
	return false
}

// keepLimit waits until a limit ends, and finds out whether it has. It reports
// whether the hold goes on because of something else.
func (h *hold) keepLimit(r *Refusal) (again bool) {
	delay, shown := h.probeEvery, (*Pause)(nil)
	exchanged := h.by.Watch() // what was before does not count
	for probed := false; ; probed = true {
		next := r.Until
		// Who was refused at the end of a limit, and is told of another that is as good
		// as over, is not to ask again and again.
		if soon := time.Now().Add(delay); !next.After(time.Now()) || probed && next.Before(soon) {
			next = soon
			delay = min(2*delay, limitMost)
		}
		if held := limitHeld(r); shown == nil || held.Text != shown.Text {
			shown = held
		}
		h.change(func() { h.until = next })
		h.show(shown)
		if !h.waitUntil(next, exchanged) || !h.somebodyWaits() {
			return h.root.Err() == nil
		}
		switch still, err := h.by.Probe(h.root); {
		case h.root.Err() != nil:
			return false
		case still != nil:
			h.turnTo(still)
			if r = still; r.Kind == agent.FailAuth {
				return true
			}
		case err != nil:
			h.log.Warn("it could not be found out whether a limit has ended", "err", err)
			h.change(func() { h.deciding = false })
		default:
			h.release()
			return false
		}
	}
}

// turnTo has the hold be about r from now on.
func (h *hold) turnTo(r *Refusal) {
	h.change(func() {
		h.countHeld(r.Kind)
		if h.cause.Kind != r.Kind {
			h.shown = nil
		}
		h.cause, h.deciding = r, false
	})
}

// waitUntil waits for a time of the wall clock, but not longer than a limit is [believed], nor once
// the credential is another one. It reports whether the hold is still about a limit, and we are not
// closing.
func (h *hold) waitUntil(at time.Time, exchanged func() bool) bool {
	began := time.Now()
	for {
		waited := time.Since(began)
		left := min(remaining(at, time.Now(), waited), believed-waited)
		if left <= 0 || exchanged() {
			return true
		}
		timer := time.NewTimer(min(left, lookEvery))
		select {
		case <-timer.C:
		case <-h.wake:
			timer.Stop()
			if h.look().cause.Kind != agent.FailLimit {
				return false
			}
		case <-h.root.Done():
			timer.Stop()
			return false
		}
	}
}

// remaining is how long is to be waited for a time, by a clock that may have been
// set since, after so long has been waited already.
func remaining(at, now time.Time, waited time.Duration) time.Duration {
	return min(at.Round(0).Sub(now.Round(0)), longest-waited)
}

// somebodyWaits waits, at the end of a limit, for a job that wants to know whether
// it is the end. It reports whether there is one.
func (h *hold) somebodyWaits() bool {
	h.change(func() { h.deciding = true })
	for {
		if h.waits() {
			return true
		}
		select {
		case <-h.wake:
			if h.look().cause.Kind != agent.FailLimit {
				return false
			}
		case <-h.root.Done():
			return false
		}
	}
}

// limitHeld is what a job that waits for the end of a limit is told.
func limitHeld(r *Refusal) *Pause {
	data := map[string]any{"kind": string(agent.FailLimit), "limit": r.Limit, "reason": r.Why}
	text := r.Why + r.ending() + ". This message waits, and then runs by itself"
	if r.Until.IsZero() {
		text = r.Why + ". It is not known when this limit ends: the model is asked again from time to time. This message waits, and then runs by itself"
	} else {
		data["resetsAt"] = r.Until.UTC().Format(time.RFC3339)
	}
	return &Pause{Paused: agent.Paused{Kind: agent.FailLimit, Text: text, Data: data}}
}

// doubt finds out whether the model that threads have refuses, too, and closes the hold
// if so. It is found out once for all who want to know at the time.
func (h *hold) doubt() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cause != nil || h.doubting != nil {
		return
	}
	over := make(chan struct{})
	h.doubting = over
	h.start(func() { // a turn has brought the refusal, so the group is not empty
		defer close(over)
		r, err := h.by.Probe(h.root)
		if err != nil {
			h.log.Warn("it could not be found out whether a refusal concerns all; the next turns tell", "err", err)
		}
		if r != nil {
			h.refused(r)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.doubting = nil
	})
}
