package store

import (
	"context"
	"errors"
)

const taskColumns = `n, id, context_id, conversation, state, at, ended_at IS NOT NULL, head, epoch, last_seq,
	(SELECT json_object('Target', target, 'Status', status, 'Error', error, 'SentAt', sent_at) FROM notices WHERE task = n)`

// A numbered task is one with the number that its rows refer to.
type numbered struct {
	Task
	n int64
}

func scanTask(row scanner, t *numbered) error {
	var at int64
	var notice []byte
	err := row.Scan(&t.n, &t.ID, &t.Context, &t.Conversation, &t.State, &at, &t.Ended, &t.Body, &t.Epoch, &t.LastSeq, &notice)
	t.At = instant(at)
	if err == nil && notice != nil {
		t.Notice, err = briefNotice(t.ID, notice)
	}
	return err
}

// Task returns a whole task, or [ErrUnknown].
func (s *Store) Task(ctx context.Context, id string) (Task, error) {
	return view(ctx, s, "read a task", func(c *conn) (Task, error) {
		found, err := collect(c, scanTask, "SELECT "+taskColumns+" FROM tasks WHERE id = ?", id)
		if err == nil && len(found) == 0 {
			err = ErrUnknown
		}
		if err != nil {
			return Task{}, err
		}
		err = c.fill(&found[0], -1, true)
		return found[0].Task, err
	})
}

// Head returns what of a task is replaced with each state, and nothing that grows with
// what the task has said, or [ErrUnknown].
func (s *Store) Head(ctx context.Context, id string) (Head, error) {
	return view(ctx, s, "read the head of a task", func(c *conn) (h Head, err error) {
		var at int64
		err = c.get("SELECT id, context_id, conversation, state, at, ended_at IS NOT NULL, head FROM tasks WHERE id = ?",
			list(id), &h.ID, &h.Context, &h.Conversation, &h.State, &at, &h.Ended, &h.Body)
		h.At = instant(at)
		return h, err
	})
}

// Has reports whether a task is known, and not forgotten.
func (s *Store) Has(ctx context.Context, task string) (bool, error) {
	return view(ctx, s, "look for a task", func(c *conn) (bool, error) {
		_, err := c.taskNumber(task)
		if errors.Is(err, ErrUnknown) {
			return false, nil
		}
		return err == nil, err
	})
}

// fill adds the newest of the history, all if negative, and the artifacts.
func (c *conn) fill(t *numbered, history int, artifacts bool) (err error) {
	switch {
	case history < 0:
		t.History, err = collect(c, only[[]byte], "SELECT body FROM history WHERE task = ? ORDER BY ordinal", t.n)
	case history > 0:
		t.History, err = collect(c, only[[]byte], `SELECT body FROM
			(SELECT ordinal, body FROM history WHERE task = ? ORDER BY ordinal DESC LIMIT ?) ORDER BY ordinal`, t.n, history)
	}
	if err != nil || !artifacts {
		return err
	}
	t.Artifacts, err = collect(c, only[[]byte], "SELECT body FROM artifacts WHERE task = ? ORDER BY ordinal", t.n)
	return err
}

// Events returns batches of a task with events numbered higher than after, in
// order; the first may begin before. They end early when their bodies take more
// than so many bytes, but there is one at least. When the task has ended long ago
// they are gone: what is missing shows in the task's LastSeq and in the numbers.
func (s *Store) Events(ctx context.Context, task string, after int64, most int) ([]Events, error) {
	return view(ctx, s, "read events", func(c *conn) ([]Events, error) {
		n, err := c.taskNumber(task)
		if err != nil {
			return nil, err
		}
		var all []Events
		size := 0
		err = c.each(`SELECT first_seq, last_seq, epoch, body FROM events
			WHERE task = ?1 AND last_seq > ?2 AND first_seq >= coalesce(
				(SELECT max(first_seq) FROM events WHERE task = ?1 AND first_seq <= ?2), 0)
			ORDER BY first_seq`, list(n, after), func(row scanner) error {
			var e Events
			if err := row.Scan(&e.First, &e.Last, &e.Epoch, &e.Body); err != nil {
				return err
			}
			if size += len(e.Body); size > most && len(all) > 0 {
				return errFull
			}
			all = append(all, e)
			return nil
		})
		if err != nil && !errors.Is(err, errFull) {
			return nil, err
		}
		return all, nil
	})
}

// errFull ends the reading of rows: there are enough.
var errFull = errors.New("the page is full")
