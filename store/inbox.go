package store

import (
	"context"
	"errors"
	"time"
)

// The states of an [InboxRow].
const (
	InboxAccepted = "accepted" // it is kept, and nothing has come of it
	InboxGiven    = "given"    // it is part of a task
	InboxAnswered = "answered" // its reply is kept, and not sent
	InboxDone     = "done"     // its reply is sent, or it gets none
	InboxDead     = "dead"     // its reply was refused for good
	InboxDrained  = "drained"  // it was none to answer
)

// An InboxRow is a row of the inbox of a workspace.
type InboxRow struct {
	Workspace string
	Activity  string // unique in its workspace
	Seq       int64
	Kind      string
	Chat      string
	Peer      string
	URI       string
	Body      []byte // of one that is accepted; what is listed has none, see [Store.InboxBody]
	State     string
	Mute      string
	Task      string
	Reply     string
	Note      string

	// Set by the store.
	N       int64
	Size    int // of its body
	Created time.Time
}

// An InboxPage is what is accepted together: rows, and the place behind them.
type InboxPage struct {
	Workspace string
	Cursor    string    // "" leaves it as it is
	Read      time.Time // as [InboxCursor.Read]; the zero time leaves it as it is
	Rows      []InboxRow

	// Counted is the kind of rows of which, in a chat, no more than Most are answered
	// until one of the kind Resets has come; those behind get Mute.
	Counted, Resets string
	Most            int
	Mute            string

	Share InboxShare // the zero value bounds nothing
}

// An InboxCursor is how far an inbox has been read.
type InboxCursor struct {
	Cursor string // "" if it is to be read by time
	Acked  int64
	Read   time.Time // everything that had come by then was accepted
}

// AcceptInbox commits a page: its rows, but those that are known, and its cursor. It
// returns how many were new.
func (s *Store) AcceptInbox(ctx context.Context, page InboxPage) (fresh int, err error) {
	if len(page.Rows) > 0 {
		if err := s.Room(); err != nil {
			return 0, err
		}
	}
	now := nanos(s.now())
	err = s.do(ctx, "accept rows of the inbox", durable, func(c *conn) error {
		fresh = 0
		shares := c.shares(&page)
		for i := range page.Rows {
			isNew, err := c.acceptRow(&page, &page.Rows[i], shares, now)
			if err != nil {
				return err
			}
			if isNew {
				fresh++
			}
		}
		_, err := c.exec(`INSERT INTO inbox_cursors (workspace, cursor, read_at) VALUES (?1, ?2, ?3)
			ON CONFLICT (workspace) DO UPDATE SET read_at = CASE WHEN ?3 <> 0 THEN ?3 ELSE read_at END,
			cursor = CASE WHEN ?2 <> '' THEN ?2 ELSE cursor END`,
			page.Workspace, page.Cursor, nanos(page.Read))
		return err
	})
	return fresh, err
}

func (c *conn) acceptRow(page *InboxPage, r *InboxRow, shares *shares, now int64) (isNew bool, err error) {
	mute := r.Mute
	if mute == "" && r.Kind == page.Counted && page.Most > 0 {
		n, err := c.number(`SELECT count(*) FROM (SELECT 1 FROM inbox WHERE workspace = ?1 AND kind = ?2 AND chat = ?3
			AND n > (SELECT coalesce(max(n), 0) FROM inbox WHERE workspace = ?1 AND kind = ?4) LIMIT ?5)`,
			page.Workspace, r.Kind, r.Chat, page.Resets, page.Most)
		if err != nil {
			return false, err
		}
		if n >= int64(page.Most) {
			mute = page.Mute
		}
	}
	body, err := shares.body(r)
	if err != nil {
		return false, err
	}
	n, err := c.exec(`INSERT INTO inbox (workspace, activity, seq, kind, chat, peer, uri, body, state, mute, note, created, changed)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (workspace, activity) DO NOTHING`,
		page.Workspace, r.Activity, r.Seq, r.Kind, r.Chat, r.Peer, r.URI, blob(body), r.State, mute, r.Note, now, now)
	if n > 0 {
		shares.add(r, len(body))
	}
	return n > 0, err
}

// InboxCursor returns how far the inbox of a workspace has been read.
func (s *Store) InboxCursor(ctx context.Context, workspace string) (InboxCursor, error) {
	return view(ctx, s, "read the cursor of an inbox", func(c *conn) (InboxCursor, error) {
		var cur InboxCursor
		var read int64
		err := c.get("SELECT cursor, acked, read_at FROM inbox_cursors WHERE workspace = ?", list(workspace), &cur.Cursor, &cur.Acked, &read)
		if errors.Is(err, ErrUnknown) {
			err = nil
		}
		cur.Read = instant(read)
		return cur, err
	})
}

// DropInboxCursor has the inbox of a workspace read by time.
func (s *Store) DropInboxCursor(ctx context.Context, workspace string) error {
	return s.do(ctx, "drop the cursor of an inbox", relaxed, func(c *conn) error {
		_, err := c.exec("UPDATE inbox_cursors SET cursor = '' WHERE workspace = ?", workspace)
		return err
	})
}

const inboxColumns = "n, workspace, activity, seq, kind, chat, peer, uri, length(body), state, mute, task, reply, note, created FROM inbox"

func scanInbox(row scanner, r *InboxRow) error {
	var created int64
	err := row.Scan(&r.N, &r.Workspace, &r.Activity, &r.Seq, &r.Kind, &r.Chat, &r.Peer, &r.URI, &r.Size, &r.State, &r.Mute, &r.Task, &r.Reply, &r.Note, &created)
	r.Created = instant(created)
	return err
}

// InboxChats returns the chats that have rows in which nobody has an answer yet, the one
// with the oldest first.
func (s *Store) InboxChats(ctx context.Context) ([]string, error) {
	return view(ctx, s, "list the chats of the inbox", func(c *conn) ([]string, error) {
		return collect(c, only[string], `SELECT chat FROM inbox WHERE state IN ('accepted', 'given') GROUP BY chat ORDER BY min(n)`)
	})
}

// InboxOpen returns rows of a chat in which nobody has an answer yet, in their order:
// those behind the one with the number after.
func (s *Store) InboxOpen(ctx context.Context, chat string, after int64, limit int) ([]InboxRow, error) {
	return view(ctx, s, "read the inbox", func(c *conn) ([]InboxRow, error) {
		return collect(c, scanInbox, "SELECT "+inboxColumns+` INDEXED BY inbox_open
			WHERE state IN ('accepted', 'given') AND n > ? AND chat = ? ORDER BY n LIMIT ?`, after, chat, limit)
	})
}

// InboxBody returns the body of a row in which nobody has an answer yet. One that is
// finished is [ErrUnknown].
func (s *Store) InboxBody(ctx context.Context, n int64) ([]byte, error) {
	return view(ctx, s, "read a row of the inbox", func(c *conn) (body []byte, err error) {
		err = c.get("SELECT body FROM inbox WHERE n = ? AND state IN ('accepted', 'given')", list(n), &body)
		return body, err
	})
}

// InboxFile returns the row that tells of a file, or [ErrUnknown].
func (s *Store) InboxFile(ctx context.Context, workspace, uri string) (InboxRow, error) {
	return view(ctx, s, "look for a file in the inbox", func(c *conn) (r InboxRow, err error) {
		found, err := collect(c, scanInbox, "SELECT "+inboxColumns+" INDEXED BY inbox_uri WHERE workspace = ? AND uri = ? AND uri <> '' ORDER BY n DESC LIMIT 1", workspace, uri)
		if err == nil && len(found) == 0 {
			err = ErrUnknown
		}
		if err != nil {
			return r, err
		}
		return found[0], nil
	})
}

// InboxHas reports whether a row was accepted.
func (s *Store) InboxHas(ctx context.Context, workspace, activity string) (bool, error) {
	return view(ctx, s, "look for a row of the inbox", func(c *conn) (bool, error) {
		n, err := c.number("SELECT EXISTS (SELECT 1 FROM inbox WHERE workspace = ? AND activity = ?)", workspace, activity)
		return n > 0, err
	})
}

// MarkInboxGiven notes which task a row is part of.
func (s *Store) MarkInboxGiven(ctx context.Context, n int64, task string) error {
	return s.do(ctx, "note the task of a row", relaxed, func(c *conn) error {
		_, err := c.exec("UPDATE inbox SET state = 'given', task = ?, changed = ? WHERE n = ? AND state IN ('accepted', 'given')", task, nanos(s.now()), n)
		return err
	})
}

// DrainInbox ends a row that gets no answer.
func (s *Store) DrainInbox(ctx context.Context, n int64, note string) error {
	return s.do(ctx, "drain a row", relaxed, func(c *conn) error {
		_, err := c.exec("UPDATE inbox SET state = 'drained', note = ?, body = x'', changed = ? WHERE n = ? AND state IN ('accepted', 'given')",
			note, nanos(s.now()), n)
		return err
	})
}

// InboxRowOf returns a row by the platform's id of it, or [ErrUnknown].
func (s *Store) InboxRowOf(ctx context.Context, workspace, activity string) (InboxRow, error) {
	return view(ctx, s, "look for a row of the inbox", func(c *conn) (r InboxRow, err error) {
		found, err := collect(c, scanInbox, "SELECT "+inboxColumns+" WHERE workspace = ? AND activity = ?", workspace, activity)
		if err == nil && len(found) == 0 {
			err = ErrUnknown
		}
		if err != nil {
			return r, err
		}
		return found[0], nil
	})
}

// InboxGivenRows returns the numbers of the rows of a workspace that are part of a task and have no answer yet, in
// their order.
func (s *Store) InboxGivenRows(ctx context.Context, workspace string, limit int) ([]int64, error) {
	return view(ctx, s, "list the rows that were given", func(c *conn) ([]int64, error) {
		return collect(c, only[int64], "SELECT n FROM inbox INDEXED BY inbox_open WHERE state IN ('accepted', 'given') AND state = 'given' AND workspace = ? ORDER BY n LIMIT ?", workspace, limit)
	})
}

// NoteInbox notes something of rows that have no answer yet, by their numbers, together.
func (s *Store) NoteInbox(ctx context.Context, notes map[int64]string, atOnce bool) error {
	level := relaxed
	if atOnce {
		level = durable
	}
	return s.do(ctx, "note something of rows", level, func(c *conn) error {
		for n, note := range notes {
			if _, err := c.exec("UPDATE inbox SET note = ?, changed = ? WHERE n = ? AND state IN ('accepted', 'given')", note, nanos(s.now()), n); err != nil {
				return err
			}
		}
		return nil
	})
}

// InboxPrefix returns the highest number up to which every row of a workspace is
// finished, 0 if there is none.
func (s *Store) InboxPrefix(ctx context.Context, workspace string) (int64, error) {
	return view(ctx, s, "look how far the inbox is worked off", func(c *conn) (int64, error) {
		return c.number(`SELECT coalesce(max(seq), 0) FROM inbox WHERE workspace = ?1 AND seq < coalesce(
			(SELECT min(seq) FROM inbox WHERE workspace = ?1 AND state IN ('accepted', 'given', 'answered') AND seq > 0), 9223372036854775807)`, workspace)
	})
}

// MarkInboxAcked notes up to which number the platform has been told that rows are finished.
func (s *Store) MarkInboxAcked(ctx context.Context, workspace string, seq int64) error {
	return s.do(ctx, "note what was acknowledged", relaxed, func(c *conn) error {
		_, err := c.exec("UPDATE inbox_cursors SET acked = max(acked, ?) WHERE workspace = ?", seq, workspace)
		return err
	})
}

// InboxUnfinished counts the rows of a workspace that are not finished.
func (s *Store) InboxUnfinished(ctx context.Context, workspace string) (int, error) {
	return view(ctx, s, "count the inbox", func(c *conn) (int, error) {
		n, err := c.number("SELECT count(*) FROM inbox INDEXED BY inbox_unfinished WHERE workspace = ? AND state IN ('accepted', 'given', 'answered')", workspace)
		return int(n), err
	})
}

// InboxUnanswered counts the rows of a workspace in which nobody has an answer yet.
func (s *Store) InboxUnanswered(ctx context.Context, workspace string) (int, error) {
	return view(ctx, s, "count what is to be answered", func(c *conn) (int, error) {
		n, err := c.number("SELECT count(*) FROM inbox INDEXED BY inbox_open WHERE state IN ('accepted', 'given') AND workspace = ?", workspace)
		return int(n), err
	})
}

// forgetInbox deletes finished rows and replies that changed before a time.
func (c *conn) forgetInbox(before time.Time) (bool, error) {
	for _, text := range []string{
		"DELETE FROM inbox WHERE n IN (SELECT n FROM inbox WHERE state IN ('done', 'dead', 'drained') AND changed < ? LIMIT ?)",
		"DELETE FROM inbox_replies WHERE n IN (SELECT n FROM inbox_replies WHERE state IN ('sent', 'dead') AND changed < ? LIMIT ?)",
	} {
		if n, err := c.exec(text, nanos(before), stepRows); n > 0 || err != nil {
			return n > 0, err
		}
	}
	return false, nil
}

// rowsBetween is how many rows come before it is looked again whether there are too many.
const rowsBetween = 1000

// tooManyRows are the finished rows and replies beyond a number, of other agents and of the user
// each, and of rows that tell of files: a sender has any number, of which none costs it a turn.
var tooManyRows = []string{ //nolint:gochecknoglobals // a constant
	"DELETE FROM inbox WHERE n IN (SELECT n FROM inbox WHERE state IN ('done', 'dead', 'drained') AND peer <> '' ORDER BY n DESC LIMIT ?1 OFFSET ?2)",
	"DELETE FROM inbox WHERE n IN (SELECT n FROM inbox WHERE state IN ('done', 'dead', 'drained') AND peer = '' AND uri = '' ORDER BY n DESC LIMIT ?1 OFFSET ?2)",
	"DELETE FROM inbox WHERE n IN (SELECT n FROM inbox INDEXED BY inbox_uri WHERE state IN ('done', 'dead', 'drained') AND uri <> '' ORDER BY n DESC LIMIT ?1 OFFSET ?2)",
	"DELETE FROM inbox_replies WHERE n IN (SELECT n FROM inbox_replies WHERE state IN ('sent', 'dead') AND peer <> '' ORDER BY n DESC LIMIT ?1 OFFSET ?2)",
	"DELETE FROM inbox_replies WHERE n IN (SELECT n FROM inbox_replies WHERE state IN ('sent', 'dead') AND peer = '' ORDER BY n DESC LIMIT ?1 OFFSET ?2)",
}

// forgetManyRows deletes finished rows and replies that are too many. What a platform hands out
// again beyond that and was not acknowledged is answered once more.
func (c *conn) forgetManyRows(most int) (bool, error) {
	newest, err := c.number("SELECT (SELECT coalesce(max(n), 0) FROM inbox) + (SELECT coalesce(max(n), 0) FROM inbox_replies)")
	if err != nil || newest < c.rowsDue {
		return false, err
	}
	for _, text := range tooManyRows {
		if n, err := c.exec(text, stepRows, most); n > 0 || err != nil {
			return n > 0, err
		}
	}
	c.rowsDue = newest + rowsBetween
	return false, nil
}
