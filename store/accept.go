package store

import (
	"context"
	"errors"
)

const (
	messageColumns = `m.caller, m.context_id, m.task_ref, coalesce(m.message_id, ''), m.digest,
	t.id, m.job, m.conversation, m.seq, m.ended, m.attempt,
	m.interrupted, coalesce(a.thread_id, ''), coalesce(a.turn_id, ''), coalesce(a.tool, 0)`
	messageTables = ` FROM messages m JOIN tasks t ON t.n = m.task
	LEFT JOIN turns a ON a.message = m.seq AND a.attempt = m.attempt`
	bodyOfMessage = ` JOIN history h ON h.task = m.task AND h.ordinal = m.ordinal`
)

// scanMessage reads the columns of a message, and those that follow into rest.
func scanMessage(row scanner, m *Message, rest ...any) error {
	var digest []byte
	dest := append(list(&m.Key.Caller, &m.Key.Context, &m.Key.Task, &m.Key.Message, &digest,
		&m.TaskID, &m.Job, &m.Conversation, &m.Seq, &m.Ended, &m.Attempt, &m.Interrupted, &m.Thread, &m.Turn, &m.Tool), rest...)
	err := row.Scan(dest...)
	copy(m.Digest[:], digest)
	return err
}

// Message returns the message of a key without its body, which may be large, or [ErrUnknown].
func (s *Store) Message(ctx context.Context, key Key) (Message, error) {
	return view(ctx, s, "read a message", func(c *conn) (m Message, err error) {
		scan := func(row scanner, m *Message) error { return scanMessage(row, m) }
		found, err := collect(c, scan, "SELECT "+messageColumns+messageTables+
			" WHERE m.message_id = ? AND m.context_id = ? AND m.task_ref = ? AND m.caller = ?",
			key.Message, key.Context, key.Task, key.Caller)
		if err == nil && len(found) == 0 {
			err = ErrUnknown
		}
		if err != nil {
			return m, err
		}
		return found[0], nil
	})
}

// Body returns the body of the message of a job, or [ErrUnknown].
func (s *Store) Body(ctx context.Context, job string) ([]byte, error) {
	return view(ctx, s, "read the body of a message", func(c *conn) (body []byte, err error) {
		err = c.get("SELECT h.body FROM messages m"+bodyOfMessage+" WHERE m.job = ?", list(job), &body)
		return body, err
	})
}

// Accept commits a message, with the task that it makes or belongs to. The
// message has its place in the queue from then on. A known key is [ErrExists]; a
// disk that is all but full, [ErrFull]; a database that somebody has replaced, [ErrReplaced].
func (s *Store) Accept(ctx context.Context, m Message, head Head) error {
	return s.accept(ctx, "accept a message", m, head, false)
}

// Replace is [Store.Accept] for a key that may be known: it then belongs to the
// new message.
func (s *Store) Replace(ctx context.Context, m Message, head Head) error {
	return s.accept(ctx, "accept a message again", m, head, true)
}

func (s *Store) accept(ctx context.Context, what string, m Message, head Head, replace bool) error {
	if m.TaskID != head.ID {
		return errors.New(what + ": its task is another than the head's")
	}
	if err := s.Room(); err != nil {
		return err
	}
	now := nanos(s.now())
	return s.do(ctx, what, relaxed, func(c *conn) error {
		var before any
		if replace {
			var err error
			if before, err = c.freeKey(m.Key); err != nil {
				return err
			}
		}
		row, isNew, err := c.newTask(&head, now)
		if err == nil && !isNew {
			err = c.saveHead(row, &head, 0, now)
		}
		if err == nil {
			err = c.answer(row.n, m.Answers, now)
		}
		if err != nil {
			return err
		}
		err = c.insertMessage(row, isNew, &m, before, now)
		if taken(err) {
			return ErrExists
		}
		if err == nil {
			err = c.useFiles(m.Job, row.n, m.Files)
		}
		if err == nil && m.Push != nil {
			err = c.setPush(row.n, *m.Push)
		}
		return err
	})
}

// answer keeps what a message answers.
func (c *conn) answer(task int64, a *Answers, now int64) error {
	if a == nil {
		return nil
	}
	if err := c.addHistory(task, [][]byte{a.Posed}); err != nil {
		return err
	}
	return c.setQuestions(task, a.Questions, nil, now)
}

// none reports whether a message was meant to answer something, and is taken for nothing of it.
func (a *Answers) none() bool { return a != nil && len(a.Questions) == 0 }

// freeKey takes a key away from the message that has it, and returns the number
// of that message, or nil.
func (c *conn) freeKey(key Key) (before any, err error) {
	const has = " WHERE message_id = ? AND context_id = ? AND task_ref = ? AND caller = ?"
	args := list(key.Message, key.Context, key.Task, key.Caller)
	seq, err := c.number("SELECT seq FROM messages"+has, args...)
	if errors.Is(err, ErrUnknown) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	_, err = c.exec("UPDATE messages SET message_id = NULL WHERE seq = ?", seq)
	return seq, err
}

func (c *conn) insertMessage(task *taskRow, isNew bool, m *Message, before any, now int64) error {
	ordinal, err := c.ordinal(task, isNew)
	if err != nil {
		return err
	}
	var id any // NULL is equal to no other
	if m.Key.Message != "" {
		id = m.Key.Message
	}
	seq, err := c.insert(`INSERT INTO messages
		(caller, context_id, task_ref, message_id, digest, task, ordinal, job, conversation, accepted_at, replaces, ended)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		m.Key.Caller, m.Key.Context, m.Key.Task, id, m.Digest[:], task.n, ordinal, m.Job, m.Conversation, now, before, m.Answers.none())
	if err != nil {
		return err
	}
	c.known.job(m.Job, &jobRow{seq: seq})
	_, err = c.exec("INSERT INTO history (task, ordinal, body) VALUES (?, ?, ?)", task.n, ordinal, blob(m.Body))
	return err
}

// Withdraw takes back a message that no attempt has begun for, as if it had not
// been accepted. If it is the only message of its task, the task goes with it;
// otherwise the task becomes head, unless that is nil. A message that has begun
// or ended is [ErrBegun].
func (s *Store) Withdraw(ctx context.Context, job string, head *Head) error {
	now := nanos(s.now())
	return s.do(ctx, "withdraw a message", relaxed, func(c *conn) error {
		var seq, task, ordinal int64
		var untouched bool
		err := c.get("SELECT seq, task, ordinal, attempt = 0 AND ended = 0 FROM messages WHERE job = ?",
			list(job), &seq, &task, &ordinal, &untouched)
		if err != nil {
			return err
		}
		if !untouched {
			return ErrBegun
		}
		return c.withdraw(seq, task, ordinal, head, now)
	})
}

func (c *conn) withdraw(seq, task, ordinal int64, head *Head, now int64) error {
	c.known.forget()
	if err := c.unuse(task, seq); err != nil {
		return err
	}
	var before, id any
	if err := c.get("SELECT replaces, message_id FROM messages WHERE seq = ?", list(seq), &before, &id); err != nil {
		return err
	}
	if _, err := c.exec("DELETE FROM messages WHERE seq = ?", seq); err != nil {
		return err
	}
	if before != nil { // its key goes back to where it came from
		if _, err := c.exec("UPDATE messages SET message_id = ? WHERE seq = ?", id, before); err != nil {
			return err
		}
	}
	if _, err := c.exec("DELETE FROM history WHERE task = ? AND ordinal = ?", task, ordinal); err != nil {
		return err
	}
	left, err := c.number("SELECT count(*) FROM messages WHERE task = ?", task)
	if err != nil {
		return err
	}
	if left == 0 {
		return c.forget(task)
	}
	if head == nil {
		return nil
	}
	row, err := c.taskRow(head.ID)
	if err != nil {
		return err
	}
	return c.saveHead(row, head, 0, now)
}

// Begin commits that an attempt to run a message is about to start in a thread,
// which is the conversation's from then on. Attempts are numbered from 1 and
// rise: a lower number is [ErrBegun], and so is the last one in another thread.
// The last one in its own thread has begun, which is no error: its first Begin
// may have been taken for failed. Model, if not empty, is that of the thread itself,
// and kept with the conversation.
func (s *Store) Begin(ctx context.Context, job string, attempt int, conversation, thread, model, tools string) error {
	now := nanos(s.now())
	return s.do(ctx, "begin a turn", relaxed, func(c *conn) error {
		row, err := c.jobRow(job)
		if err != nil {
			return err
		}
		if attempt == row.attempt && attempt > 0 {
			return c.sameThread(row.seq, attempt, thread)
		}
		if attempt <= row.attempt {
			return ErrBegun
		}
		if err := c.setAttempt(row, attempt); err != nil {
			return err
		}
		_, err = c.exec("INSERT INTO turns (message, attempt, thread_id, begun_at) VALUES (?, ?, ?, ?)",
			row.seq, attempt, thread, now)
		if err != nil {
			return err
		}
		return c.useThread(conversation, thread, model, tools, now)
	})
}

// Vanished notes that an attempt was cut off before codex had made anything of it, and
// returns of how many attempts at the message that is noted.
func (s *Store) Vanished(ctx context.Context, job string, attempt int) (n int, err error) {
	err = s.do(ctx, "note an attempt that came to nothing", relaxed, func(c *conn) error {
		row, err := c.jobRow(job)
		if err != nil {
			return err
		}
		if _, err := c.exec("UPDATE turns SET vanished = 1 WHERE message = ? AND attempt = ?", row.seq, attempt); err != nil {
			return err
		}
		all, err := c.number("SELECT count(*) FROM turns WHERE message = ? AND vanished = 1", row.seq)
		n = int(all)
		return err
	})
	return n, err
}

// setAttempt notes the attempt that was begun last.
func (c *conn) setAttempt(row *jobRow, attempt int) error {
	_, err := c.exec("UPDATE messages SET attempt = ? WHERE seq = ?", attempt, row.seq)
	row.attempt = attempt
	return err
}

// sameThread returns [ErrBegun] unless an attempt has begun in that thread.
func (c *conn) sameThread(seq int64, attempt int, thread string) error {
	var begun string
	if err := c.get("SELECT thread_id FROM turns WHERE message = ? AND attempt = ?", list(seq, attempt), &begun); err != nil {
		return err
	}
	if begun != thread {
		return ErrBegun
	}
	return nil
}
