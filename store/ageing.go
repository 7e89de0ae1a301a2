package store

import (
	"errors"
	"sync"
	"time"
)

const (
	// mostAway is how much of the time between two processes what is kept grows older by, and for how
	// long a clock that is far ahead is not believed.
	mostAway = 24 * time.Hour
	// mostBehind is how far a clock that is behind is believed to be that, and that what was used by it
	// was not used later by the right one.
	mostBehind = 100 * 24 * time.Hour
	// agedEvery is how often it is noted how old what is kept is.
	agedEvery = time.Hour
)

// Aged is the time by which what is kept for a time grows old: that of the clock, but for what the clock
// is set to. It goes on as time passes, twice as fast while it is behind the clock, and is not ahead of
// it; of the time between two processes a day at most counts. So a clock that is ahead for a while, or
// behind, has nothing forgotten that is not old.
func (s *Store) Aged() time.Time { return s.aged() }

// An ageing tells that time. It may be used concurrently.
type ageing struct {
	mu    sync.Mutex
	at    time.Time     // without a monotonic reading
	far   time.Duration // for how long the clock has been far ahead of it
	seen  time.Time     // when it was looked at
	noted time.Time     // when it was written down
}

// newAgeing goes on from what was noted when the clock said wall; a zero time is not known.
func newAgeing(now, wall, at time.Time) *ageing {
	a := &ageing{at: now.Round(0), seen: now}
	if !at.IsZero() {
		a.at = at.Add(min(max(now.Round(0).Sub(wall), 0), mostAway))
	}
	a.step(now.Round(0), 0)
	return a
}

func (a *ageing) now() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.look(time.Now())
}

func (a *ageing) look(now time.Time) time.Time {
	passed := now.Sub(a.seen) // whatever the clock was set to
	a.seen = now
	a.step(now.Round(0), passed)
	return a.at
}

// step has time pass.
func (a *ageing) step(clock time.Time, passed time.Duration) {
	a.at = a.at.Add(passed)
	behind := clock.Sub(a.at)
	if a.far += passed; behind <= mostBehind {
		a.far = 0
	}
	switch {
	case behind < 0: // what ends now must not be old
		a.at = clock
	case a.far > mostAway: // the clock is right, and was not before
		a.at = clock.Add(-mostBehind)
	default:
		a.at = a.at.Add(min(behind, passed))
	}
}

// due returns what is to be noted, and whether that is to be now.
func (a *ageing) due(now time.Time) (at time.Time, due bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if due = a.noted.IsZero() || now.Sub(a.noted) >= agedEvery; due {
		a.noted = now
	}
	return a.look(now), due
}

// age returns what was noted of it; zero times if nothing was.
func (c *conn) age() (wall, at time.Time, err error) {
	var clock, age int64
	if err = c.get("SELECT wall, at FROM ageing", nil, &clock, &age); errors.Is(err, ErrUnknown) {
		err = nil
	}
	return instant(clock), instant(age), err
}

func (c *conn) keepAge(wall, at time.Time) error {
	_, err := c.exec("INSERT INTO ageing (one, wall, at) VALUES (1, ?, ?) ON CONFLICT (one) DO UPDATE SET wall = excluded.wall, at = excluded.at", nanos(wall), nanos(at))
	return err
}
