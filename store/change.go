package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Write commits a change, whole or not at all.
func (s *Store) Write(ctx context.Context, change Change) error {
	if change.Task == "" && change.Head != nil {
		change.Task = change.Head.ID
	}
	if change.Head != nil && change.Head.ID != change.Task {
		return errors.New("write a change: its head is another task's")
	}
	now := nanos(s.now())
	return s.do(ctx, "write a change", change.level(), func(c *conn) error { return c.change(&change, now) })
}

func (change *Change) level() durability {
	switch {
	case change.Durable, change.Turn != nil && change.Turn.Tool, len(change.Ask) > 0, slices.ContainsFunc(change.Outbox, func(d Delivery) bool { return !d.Replaces }), change.Notice != nil:
		return durable
	}
	return relaxed
}

func (c *conn) change(change *Change, now int64) error {
	if err := c.setTurn(change.Turn, now); err != nil { // first: the end of a task asks for turns
		return err
	}
	row, err := c.task(change, now)
	if err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return c.addHistory(row.n, change.History) },
		func() error { return c.setArtifacts(row, change.Artifacts) },
		func() error { return c.unuseFiles(change.Unbegun) },
		func() error { return c.endMessages(change.Ended, change.Cut) },
		func() error { return c.setQuestions(row.n, change.Ask, change.Drop, now) },
		func() error { return c.send(row.n, change.Outbox, now) },
		func() error { return c.addNotice(row.n, change.Notice, now) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	if change.Head != nil && change.Head.Ended {
		delete(c.known.tasks, change.Task)
	}
	return nil
}

// task saves what is shown of the task that changes, and its events. A change of
// messages alone needs no task.
func (c *conn) task(change *Change, now int64) (*taskRow, error) {
	if change.Task == "" {
		return &taskRow{}, nil
	}
	if change.Head == nil {
		row, err := c.taskRow(change.Task)
		if err != nil {
			return nil, err
		}
		return row, c.addEvents(row, change.Epoch, change.Events)
	}
	row, isNew, err := c.newTask(change.Head, now)
	if err != nil {
		return nil, err
	}
	if isNew && len(change.Events) == 0 && change.Epoch == 0 {
		return row, nil
	}
	if err := c.insertEvents(row, change.Events); err != nil {
		return nil, err
	}
	return row, c.saveHead(row, change.Head, change.Epoch, now)
}

// saveHead writes what is shown of a task, and what it knows of its events. The
// time of the end is that of the first.
func (c *conn) saveHead(row *taskRow, h *Head, epoch int, now int64) error {
	class, err := c.settled(row.n, h)
	if err != nil {
		return err
	}
	c.catalog.note(changed, entryOf(row.n, h, class))
	_, err = c.exec(`UPDATE tasks SET state = ?1, at = ?2, head = ?3,
		ended_at = CASE WHEN ?4 IS NULL THEN NULL ELSE coalesce(ended_at, ?4) END, class = CASE WHEN ?4 IS NULL THEN class ELSE ?8 END,
		last_seq = ?5, epoch = CASE WHEN ?6 > 0 THEN ?6 ELSE epoch END, pruned = 0 WHERE n = ?7`,
		h.State, nanos(h.At), blob(h.Body), endedAt(h, now), row.last, epoch, row.n, int(class))
	return err
}

// settled is the class of a task that ends; that of one that does not says nothing.
func (c *conn) settled(task int64, h *Head) (Class, error) {
	if !h.Ended {
		return 0, nil
	}
	class, err := c.number("SELECT CASE WHEN EXISTS (SELECT 1 FROM messages WHERE task = n AND attempt > 0) THEN ?2 ELSE class END FROM tasks WHERE n = ?1",
		task, int(ran))
	return classOf(class), err
}

func (c *conn) addEvents(row *taskRow, epoch int, batches []Events) error {
	if len(batches) == 0 && epoch == 0 {
		return nil
	}
	if err := c.insertEvents(row, batches); err != nil {
		return err
	}
	_, err := c.exec(`UPDATE tasks SET last_seq = ?1, epoch = CASE WHEN ?2 > 0 THEN ?2 ELSE epoch END, pruned = 0 WHERE n = ?3`,
		row.last, epoch, row.n)
	return err
}

func (c *conn) insertEvents(row *taskRow, batches []Events) error {
	for _, e := range batches {
		if e.First <= row.last || e.Last < e.First {
			return fmt.Errorf("events %d to %d do not follow %d", e.First, e.Last, row.last)
		}
		row.last = e.Last
		_, err := c.exec("INSERT INTO events (task, first_seq, last_seq, epoch, body) VALUES (?, ?, ?, ?, ?)",
			row.n, e.First, e.Last, e.Epoch, blob(e.Body))
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *conn) addHistory(task int64, bodies [][]byte) error {
	for _, body := range bodies {
		if _, err := c.exec(`INSERT INTO history (task, ordinal, body)
			VALUES (?1, (SELECT coalesce(max(ordinal), 0) + 1 FROM history WHERE task = ?1), ?2)`, task, blob(body)); err != nil {
			return err
		}
	}
	return nil
}

func (c *conn) setArtifacts(row *taskRow, bodies [][]byte) error {
	if bodies == nil {
		return nil
	}
	if row.artifacts {
		if _, err := c.exec("DELETE FROM artifacts WHERE task = ?", row.n); err != nil {
			return err
		}
	}
	row.artifacts = true
	for i, body := range bodies {
		_, err := c.exec("INSERT INTO artifacts (task, ordinal, body) VALUES (?, ?, ?)", row.n, i+1, blob(body))
		if err != nil {
			return err
		}
	}
	return nil
}

// setTurn notes what is known of an attempt. One that nobody has begun here is
// taken for begun: it was.
func (c *conn) setTurn(t *Turn, now int64) error {
	if t == nil {
		return nil
	}
	row, err := c.jobRow(t.Job)
	if err != nil {
		return fmt.Errorf("job %s: %w", t.Job, err)
	}
	if t.Attempt > row.attempt {
		if err := c.setAttempt(row, t.Attempt); err != nil {
			return err
		}
	}
	_, err = c.exec(`INSERT INTO turns (message, attempt, thread_id, turn_id, tool, begun_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
		ON CONFLICT (message, attempt) DO UPDATE SET tool = max(tool, ?5), turn_id = CASE WHEN ?4 <> '' THEN ?4 ELSE turn_id END`,
		row.seq, t.Attempt, t.Thread, t.TurnID, t.Tool, now)
	return err
}

func (c *conn) endMessages(jobs, cut []string) error {
	for _, job := range jobs {
		row, err := c.jobRow(job)
		if err != nil {
			return fmt.Errorf("job %s: %w", job, err)
		}
		_, err = c.exec("UPDATE messages SET ended = 1, interrupted = ? WHERE seq = ?", slices.Contains(cut, job), row.seq)
		if err != nil {
			return err
		}
		delete(c.known.jobs, job)
	}
	return nil
}

func (c *conn) setQuestions(task int64, ask []Question, drop []string, now int64) error {
	for _, id := range drop {
		if _, err := c.exec("DELETE FROM questions WHERE task = ? AND id = ?", task, id); err != nil {
			return err
		}
	}
	for _, q := range ask {
		asked := now
		if !q.Asked.IsZero() {
			asked = nanos(q.Asked)
		}
		_, err := c.exec("INSERT OR REPLACE INTO questions (task, id, body, asked_at, deadline) VALUES (?, ?, ?, ?, ?)",
			task, q.ID, blob(q.Body), asked, nanos(q.Deadline))
		if err != nil {
			return err
		}
	}
	return nil
}
