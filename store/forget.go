package store

import "time"

// endedTasks has those of a class behind a place, up to a time, those first that ended first.
const endedTasks = `SELECT ended_at, n FROM tasks
	WHERE ended_at IS NOT NULL AND class = ?1 AND (ended_at, n) > (?2, ?3) AND ended_at < ?4 ORDER BY ended_at, n LIMIT ?5`

// stillToSend asks whether something of a task is still to be sent that was put in after a time.
const stillToSend = `SELECT EXISTS (SELECT 1 FROM outbox WHERE task = ?1 AND dead = 0 AND created > ?2)
	OR EXISTS (SELECT 1 FROM notices WHERE task = ?1 AND status IN ('', 'pending', 'failed') AND due_at > 0 AND created > ?2)`

// An ended task has its place in the order of ends.
type ended struct{ at, n int64 }

// A choice says which of the tasks that have ended may go.
type choice struct {
	before time.Time // they ended
	owed   time.Time // those with a delivery younger than this are passed over; the zero time passes over none
}

// ended returns tasks of a class that may go, those first that ended first. Those that were
// passed over in this sweep are not among them: to look at them again would make each step
// longer.
func (c *conn) ended(class Class, which choice, most int) ([]ended, error) {
	var from ended
	if !which.owed.IsZero() {
		from = c.passed[class]
	}
	scan := func(row scanner, e *ended) error { return row.Scan(&e.at, &e.n) }
	return collect(c, scan, endedTasks, int(class), from.at, from.n, nanos(which.before), most)
}

// passOver reports whether a task may not go yet, and remembers it.
func (c *conn) passOver(class Class, e ended, which choice) (bool, error) {
	if which.owed.IsZero() {
		return false, nil
	}
	owes, err := c.number(stillToSend, e.n, nanos(which.owed))
	if owes != 0 {
		c.passed[class] = e
	}
	return owes != 0, err
}

// forgetOld takes what ended too long ago, whatever else is to be said of it.
func (c *conn) forgetOld(before time.Time, p *portion) (bool, error) {
	for class := range classes {
		if did, err := c.forgetOf(class, choice{before: before}, stepTasks, p); did || err != nil {
			return did, err
		}
	}
	return false, nil
}

// forgetMany takes what is too many of a class. It waits for the catalog, which knows how
// many there are.
func (c *conn) forgetMany(most int, now time.Time, p *portion) (bool, error) {
	if !c.catalog.whole {
		return false, nil
	}
	for class := range classes {
		if did, err := c.forgetManyOf(class, most, now, p); did || err != nil {
			return did, err
		}
	}
	return false, nil
}

// forgetManyOf spares what still has something to be sent. Of what costs its sender nothing
// that may be as many again: a receiver that is down must not keep all that is sent to it.
func (c *conn) forgetManyOf(class Class, most int, now time.Time, p *portion) (bool, error) {
	which := choice{before: now.Add(-class.spared()), owed: now.Add(-Patience)}
	n := c.catalog.remaining(class)
	if n > most {
		if did, err := c.forgetOf(class, which, n-most, p); did || err != nil {
			return did, err
		}
	}
	if class == ran || n <= 2*most {
		return false, nil
	}
	which.owed = time.Time{}
	return c.forgetOf(class, which, n-2*most, p)
}

// forgetOf lets some tasks of a class go, those first that ended first, and reports
// whether there were any to look at.
func (c *conn) forgetOf(class Class, which choice, most int, p *portion) (bool, error) {
	found, err := c.ended(class, which, stepTasks)
	for _, e := range found {
		stays, err := c.passOver(class, e, which)
		if err == nil && !stays {
			err = c.forget(e.n)
			most--
		}
		if err != nil {
			return false, err
		}
		if p.take(0, 0); most == 0 || p.spent() {
			break
		}
	}
	return len(found) > 0, err
}

// liveEvents is how many bytes the events of tasks have that have not ended. No task that has
// ended goes for them: that would leave as many.
const liveEvents = "SELECT coalesce(sum(length(body)), 0) FROM events WHERE task IN (SELECT n FROM tasks WHERE ended_at IS NULL)"

// forgetLarge lets one task go if the database is too large. Its rows are cleared before
// the next is considered. Where it is twice too large, what has just ended goes, too, first
// what codex has not worked for.
func (c *conn) forgetLarge(most int64, now time.Time, p *portion) (bool, error) {
	pages, free, err := c.pages()
	if err != nil {
		return false, err
	}
	size, err := c.number("PRAGMA page_size") // an older file may have others
	used := (pages - free) * size
	if err != nil || used <= most {
		return false, err
	}
	live, err := c.number(liveEvents)
	if used -= live; err != nil || used <= most {
		return false, err
	}
	all, owed := append([]Class{ran}, unrun...), now.Add(-Patience)
	did, err := c.forgetFirst(all, choice{now.Add(-fresh), owed}, p)
	if did || err != nil || used <= 2*most {
		return did, err
	}
	justNow := now.Add(-freshly)
	for _, next := range []struct {
		of []Class
		choice
	}{{unrun, choice{before: justNow}}, {all, choice{justNow, owed}}, {all, choice{before: justNow}}} {
		if did, err := c.forgetFirst(next.of, next.choice, p); did || err != nil {
			return did, err
		}
	}
	return false, nil
}

// forgetFirst lets the task of some classes go that ended first, and reports whether there
// was one to look at.
func (c *conn) forgetFirst(of []Class, which choice, p *portion) (did bool, err error) {
	for ; !p.spent(); p.take(0, 0) {
		class, first, err := c.firstEnded(of, which)
		if err != nil || first == (ended{}) {
			return did, err
		}
		did = true
		stays, err := c.passOver(class, first, which)
		if err == nil && !stays {
			err = c.forget(first.n)
		}
		if err != nil || !stays {
			return did, err
		}
	}
	return did, nil
}

// firstEnded is the task of some classes that ended first; the zero place is none.
func (c *conn) firstEnded(of []Class, which choice) (class Class, first ended, err error) {
	for _, next := range of {
		found, err := c.ended(next, which, 1)
		if err != nil {
			return class, first, err
		}
		if len(found) > 0 && (first == (ended{}) || found[0].at < first.at) {
			class, first = next, found[0]
		}
	}
	return class, first, nil
}
