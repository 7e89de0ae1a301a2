package store

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Retention says how long what has ended is kept. Whichever bound is reached first lets the
// task go that ended first. What has not ended is always kept; a task with a delivery that is
// still to be made, for [Patience], but for the bound by age and as far as the others say.
type Retention struct {
	Age    time.Duration // since their end; 0 means 30 days
	Events time.Duration // how long their events are kept; 0 means 24 hours

	// Tasks is how many of each [Class], which says for how long after its end a task is not
	// taken for it; 0 means 10,000. Of a class without turns no more than as many again stay
	// for their deliveries.
	Tasks int

	// Rows is how many finished rows of all inboxes, and replies, are kept of other agents, and
	// as many of users; 0 means 100,000.
	Rows int

	// Bytes is of the database; 0 means 1 GiB. It spares what ended within the hour, up to
	// twice as many; then within the minute, and what has no turn goes first, what still has
	// a delivery to be made last.
	Bytes int64
}

const (
	deadAge = 7 * 24 * time.Hour // of deliveries that were given up
	fresh   = time.Hour          // since its end, a task is not sacrificed for room
	freshly = time.Minute        // the same, where there is twice as much as should be: a flood that ends fast

	// inboxAge is longer than the 30 days in which a platform may hand a row out again:
	// its clock is another one, and one that is forgotten here would be answered twice.
	inboxAge = 31 * 24 * time.Hour

	stepTasks = 20
	stepRows  = 200
	stepBytes = 1 << 20
	stepTime  = 2 * time.Millisecond // after which a step begins nothing more

	// Free pages are used again. They are given back to the disk only when they
	// are many, and more than one in so many.
	vacuumLeast = 1024
	vacuumShare = 8
	vacuumStep  = 64 // pages
)

func (r Retention) orDefault() Retention {
	r.Tasks = cmp.Or(r.Tasks, 10_000)
	r.Age = cmp.Or(r.Age, 30*24*time.Hour)
	r.Events = cmp.Or(r.Events, 24*time.Hour)
	r.Rows = cmp.Or(r.Rows, 100_000)
	r.Bytes = cmp.Or(r.Bytes, 1<<30)
	return r
}

// sweep does the first step that is left to do, and reports whether there was
// one. Each is short, and each leaves a state that the next start can go on from. What is too old is
// so by the time of [Store.Aged].
func (c *conn) sweep(r Retention, now, aged time.Time) (bool, error) {
	return c.sweepPortion(r, now, aged, newPortion())
}

func (c *conn) sweepPortion(r Retention, now, aged time.Time, p *portion) (bool, error) {
	for _, step := range []func() (bool, error){
		func() (bool, error) { return c.clearForgotten(p) },
		func() (bool, error) { return c.forgetOld(aged.Add(-r.Age), p) },
		func() (bool, error) { return c.forgetMany(r.Tasks, now, p) },
		func() (bool, error) { return c.pruneEvents(aged.Add(-r.Events), p) },
		func() (bool, error) { return c.buryDead(aged.Add(-deadAge)) },
		func() (bool, error) { return c.forgetInbox(aged.Add(-max(r.Age, inboxAge))) },
		func() (bool, error) { return c.forgetManyRows(r.Rows) },
		func() (bool, error) { return c.forgetLarge(r.Bytes, now, p) },
		c.vacuum,
	} {
		if did, err := step(); did || err != nil {
			return did, err
		}
	}
	c.passed = [classes]ended{}
	return false, nil
}

// A portion is what is left to a step of retention. Its time begins with the first rows
// that it takes, so that each step gets on, however slow the machine is.
type portion struct {
	rows, bytes int
	time        time.Duration
	until       time.Time
}

func newPortion() *portion { return &portion{rows: stepRows, bytes: stepBytes, time: stepTime} }

// take counts what has gone.
func (p *portion) take(rows, bytes int) {
	p.rows -= rows
	p.bytes -= bytes
	if p.until.IsZero() {
		p.until = time.Now().Add(p.time)
	}
}

func (p *portion) spent() bool {
	return p.rows <= 0 || p.bytes <= 0 || !p.until.IsZero() && !time.Now().Before(p.until)
}

// forget takes a task and its messages away. Its other rows go in later steps.
func (c *conn) forget(task int64) error {
	c.known.forget()
	c.catalog.note(removed, entry{n: task})
	for _, text := range append(slices.Clone(forgetUses),
		"DELETE FROM turns WHERE message IN (SELECT seq FROM messages WHERE task = ?)",
		"DELETE FROM messages WHERE task = ?",
		"DELETE FROM outbox WHERE task = ?",
		"DELETE FROM notices WHERE task = ?",
		"DELETE FROM tasks WHERE n = ?",
		"INSERT INTO forgotten (task) VALUES (?)",
	) {
		if _, err := c.exec(text, task); err != nil {
			return err
		}
	}
	return nil
}

// clearForgotten deletes rows of forgotten tasks.
func (c *conn) clearForgotten(p *portion) (bool, error) {
	tasks, err := collect(c, only[int64], "SELECT task FROM forgotten LIMIT ?", stepTasks)
	for _, task := range tasks {
		for _, rows := range []struct{ table, key string }{
			{"events", "first_seq"}, {"artifacts", "ordinal"}, {"history", "ordinal"}, {"questions", "id"}, {"push_configs", "id"},
		} {
			if done, err := c.trim(rows.table, rows.key, task, p); !done || err != nil {
				return true, err
			}
		}
		if _, err := c.exec("DELETE FROM forgotten WHERE task = ?", task); err != nil {
			return false, err
		}
		p.take(0, 0)
	}
	return len(tasks) > 0, err
}

// pruneEvents deletes events of tasks that ended before a time.
func (c *conn) pruneEvents(before time.Time, p *portion) (bool, error) {
	tasks, err := collect(c, only[int64], `SELECT n FROM tasks
		WHERE ended_at IS NOT NULL AND pruned = 0 AND ended_at < ? ORDER BY ended_at LIMIT ?`, nanos(before), stepTasks)
	for _, task := range tasks {
		if done, err := c.trim("events", "first_seq", task, p); !done || err != nil {
			return true, err
		}
		if _, err := c.exec("UPDATE tasks SET pruned = 1 WHERE n = ?", task); err != nil {
			return false, err
		}
		p.take(0, 0)
	}
	return len(tasks) > 0, err
}

// trim deletes the first rows that a task has in a table, as many as the portion has room
// for, and reports whether none are left. One goes even if it is larger than the portion.
func (c *conn) trim(table, key string, task int64, p *portion) (done bool, err error) {
	if p.spent() {
		return false, nil
	}
	type entry struct {
		key  any
		size int
	}
	scan := func(row scanner, e *entry) error { return row.Scan(&e.key, &e.size) }
	rows, err := collect(c, scan, "SELECT "+key+", length(body) FROM "+table+" WHERE task = ? ORDER BY "+key+" LIMIT ?",
		task, p.rows+1)
	if err != nil || len(rows) == 0 {
		return err == nil, err
	}
	n, bytes := 0, 0
	for n < min(len(rows), p.rows) && (p.until.IsZero() && n == 0 || bytes+rows[n].size <= p.bytes) {
		bytes += rows[n].size
		n++
	}
	p.take(n, bytes)
	if n == 0 {
		return false, nil
	}
	_, err = c.exec("DELETE FROM "+table+" WHERE task = ? AND "+key+" <= ?", task, rows[n-1].key)
	return n == len(rows), err
}

func (c *conn) buryDead(before time.Time) (bool, error) {
	n, err := c.exec("DELETE FROM outbox WHERE id IN (SELECT id FROM outbox WHERE dead = 1 AND due_at < ? LIMIT ?)",
		nanos(before), stepRows)
	return n > 0, err
}

// vacuum gives some free pages back to the disk. The file gets shorter when the log is
// moved. A file that another program has written anew may have lost what is needed for it
// (auto_vacuum), and keeps its free pages.
func (c *conn) vacuum() (bool, error) {
	pages, free, err := c.pages()
	if err != nil || free < vacuumLeast || free < pages/vacuumShare {
		return false, err
	}
	if _, err = c.exec(fmt.Sprintf("PRAGMA incremental_vacuum(%d)", vacuumStep)); err != nil { // a row for each page
		return false, err
	}
	_, left, err := c.pages()
	return left < free, err
}

func (c *conn) pages() (all, free int64, err error) {
	if all, err = c.number("PRAGMA page_count"); err != nil {
		return 0, 0, err
	}
	free, err = c.number("PRAGMA freelist_count")
	return all, free, err
}
