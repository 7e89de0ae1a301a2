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
	// mostBehind is how far this time may be behind the clock for long.
	mostBehind = 100 * 24 * time.Hour
	// agedEvery is how often it is noted how old what is kept is.
	agedEvery = time.Hour
)

// Aged is the time by which what is kept for a time grows old: that of the clock, but for what the clock
// is set to. It goes on as time passes, twice as fast while it is behind the clock, and is not ahead of
// it; of the time between two processes a day at most counts. So a clock that is ahead for a while, or
// behind, has nothing forgotten that was not old by it.
func (s *Store) Aged() time.Time { return s.aged() }

// An age is what is noted of that time.
type age struct {
	wall time.Time     // what the clock said then; zero if nothing was noted
	at   time.Time     // without a monotonic reading
	far  time.Duration // for how long processes have seen the clock far ahead of it
}

// An ageing tells that time. It may be used concurrently.
type ageing struct {
	mu    sync.Mutex
	at    time.Time     // as age has it
	far   time.Duration // likewise
	seen  time.Time     // when it was looked at
	awake time.Duration // what [sinceBoot] was then
	noted time.Time     // when it was written down
}

// newAgeing goes on from what was noted.
func newAgeing(now time.Time, noted age) *ageing {
	a := &ageing{at: now.Round(0), far: noted.far, seen: now, awake: sinceBoot()}
	if !noted.wall.IsZero() {
		a.at = noted.at.Add(min(max(now.Round(0).Sub(noted.wall), 0), mostAway))
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
	awake := sinceBoot()
	passed := max(now.Sub(a.seen), awake-a.awake) // whatever the clock was set to; the first stands still while the machine sleeps
	a.seen, a.awake = now, awake
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

// note returns what is to be noted now.
func (a *ageing) note(now time.Time) age {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.noted = now
	return age{wall: now, at: a.look(now), far: a.far}
}

// isDue reports whether it is to be noted.
func (a *ageing) isDue(now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.noted.IsZero() || now.Sub(a.noted) >= agedEvery
}

// age returns what was noted. Where nothing was, by an earlier version, it is when a conversation was
// used last.
func (c *conn) age() (noted age, err error) {
	var wall, at, far int64
	err = c.get("SELECT wall, at, far FROM ageing", nil, &wall, &at, &far)
	if errors.Is(err, ErrUnknown) {
		err = c.get("SELECT used_at, used_at FROM conversations ORDER BY used_at DESC LIMIT 1", nil, &wall, &at)
	}
	if errors.Is(err, ErrUnknown) {
		err = nil
	}
	return age{wall: instant(wall), at: instant(at), far: time.Duration(far)}, err
}

func (c *conn) keepAge(a age) error {
	_, err := c.exec(`INSERT INTO ageing (one, wall, at, far) VALUES (1, ?, ?, ?)
		ON CONFLICT (one) DO UPDATE SET wall = excluded.wall, at = excluded.at, far = excluded.far`, nanos(a.wall), nanos(a.at), int64(a.far))
	return err
}
