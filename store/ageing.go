package store

import "time"

// mostAway is how much of the time for which nothing was written before the store was opened what is
// kept grows older by.
const mostAway = 24 * time.Hour

// Aged is the time by which what is kept for a time grows old. Within a process only time that passes
// counts, however its clock is set; and of the time before, a day at most: a clock that is far ahead as
// the process starts, or goes ahead for a while, has nothing forgotten.
func (s *Store) Aged() time.Time { return s.aged() }

// ageing returns what tells the time by which things grow old, from now on.
func ageing(now, newest time.Time) func() time.Time {
	at := now
	if latest := newest.Add(mostAway); !newest.IsZero() && at.After(latest) {
		at = latest
	}
	return func() time.Time { return at.Add(time.Since(now)) }
}

// newest is when what was written last was written, as far as that is known.
func (c *conn) newest() (time.Time, error) {
	at, err := c.number(`SELECT max(
		coalesce((SELECT at FROM tasks ORDER BY n DESC LIMIT 1), 0),
		coalesce((SELECT max(used_at) FROM conversations), 0),
		coalesce((SELECT changed FROM inbox ORDER BY n DESC LIMIT 1), 0))`)
	return instant(at), err
}
