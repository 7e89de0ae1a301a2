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
	case change.Durable, change.Turn != nil && change.Turn.Tool, len(change.Ask) > 0, len(change.Outbox) > 0:
		return durable
	}
	return relaxed
}

func (c *conn) change(change *Change, now int64) error {
	n, err := c.task(change, now)
	if err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return c.addEvents(n, change.Epoch, change.Events) },
		func() error { return c.addHistory(n, change.History) },
		func() error { return c.setArtifacts(n, change.Artifacts) },
		func() error { return c.setTurn(change.Turn, now) },
		func() error { return c.endMessages(change.Ended, change.Cut) },
		func() error { return c.setQuestions(n, change.Ask, change.Drop, now) },
		func() error { return c.send(n, change.Outbox, now) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// task returns the number of the task that changes, and saves its head. A change
// of messages alone needs no task.
func (c *conn) task(change *Change, now int64) (int64, error) {
	switch {
	case change.Head != nil:
		return c.saveHead(change.Head, now)
	case change.Task != "":
		return c.taskNumber(change.Task)
	}
	return 0, nil
}

func (c *conn) taskNumber(id string) (int64, error) {
	return c.number("SELECT n FROM tasks WHERE id = ?", id)
}

// saveHead writes what is shown of a task, and returns its number.
func (c *conn) saveHead(h *Head, now int64) (int64, error) {
	var ended any
	if h.Ended {
		ended = now
	}
	n, err := c.taskNumber(h.ID)
	if errors.Is(err, ErrUnknown) {
		return c.insert(`INSERT INTO tasks (id, context_id, conversation, state, at, created, ended_at, head)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			h.ID, h.Context, h.Conversation, h.State, nanos(h.At), now, ended, blob(h.Body))
	}
	if err != nil {
		return 0, err
	}
	// The time of the end is that of the first.
	_, err = c.exec(`UPDATE tasks SET state = ?1, at = ?2, head = ?3,
		ended_at = CASE WHEN ?4 IS NULL THEN NULL ELSE coalesce(ended_at, ?4) END WHERE n = ?5`,
		h.State, nanos(h.At), blob(h.Body), ended, n)
	return n, err
}

func (c *conn) addEvents(task int64, epoch int, batches []Events) error {
	if len(batches) == 0 && epoch == 0 {
		return nil
	}
	last, err := c.number("SELECT last_seq FROM tasks WHERE n = ?", task)
	if err != nil {
		return err
	}
	for _, e := range batches {
		if e.First <= last || e.Last < e.First {
			return fmt.Errorf("events %d to %d do not follow %d", e.First, e.Last, last)
		}
		last = e.Last
		_, err := c.exec("INSERT INTO events (task, first_seq, last_seq, epoch, body) VALUES (?, ?, ?, ?, ?)",
			task, e.First, e.Last, e.Epoch, blob(e.Body))
		if err != nil {
			return err
		}
	}
	_, err = c.exec("UPDATE tasks SET last_seq = ?1, epoch = CASE WHEN ?2 > 0 THEN ?2 ELSE epoch END, pruned = 0 WHERE n = ?3",
		last, epoch, task)
	return err
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

func (c *conn) setArtifacts(task int64, bodies [][]byte) error {
	if bodies == nil {
		return nil
	}
	if _, err := c.exec("DELETE FROM artifacts WHERE task = ?", task); err != nil {
		return err
	}
	for i, body := range bodies {
		_, err := c.exec("INSERT INTO artifacts (task, ordinal, body) VALUES (?, ?, ?)", task, i+1, blob(body))
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
	seq, err := c.number("SELECT seq FROM messages WHERE job = ?", t.Job)
	if err != nil {
		return fmt.Errorf("job %s: %w", t.Job, err)
	}
	if _, err := c.exec("UPDATE messages SET attempt = max(attempt, ?) WHERE seq = ?", t.Attempt, seq); err != nil {
		return err
	}
	_, err = c.exec(`INSERT INTO turns (message, attempt, thread_id, turn_id, tool, begun_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
		ON CONFLICT (message, attempt) DO UPDATE SET tool = max(tool, ?5), turn_id = CASE WHEN ?4 <> '' THEN ?4 ELSE turn_id END`,
		seq, t.Attempt, t.Thread, t.TurnID, t.Tool, now)
	return err
}

func (c *conn) endMessages(jobs, cut []string) error {
	for _, job := range jobs {
		n, err := c.exec("UPDATE messages SET ended = 1, interrupted = ? WHERE job = ?", slices.Contains(cut, job), job)
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("job %s: %w", job, ErrUnknown)
		}
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
