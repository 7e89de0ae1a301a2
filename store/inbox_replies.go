package store

import (
	"context"
	"errors"
	"time"
)

// The states of an [InboxReply].
const (
	ReplyDue  = "due"
	ReplySent = "sent"
	ReplyDead = "dead"
)

// An InboxReply is what is said to whoever sent a row.
type InboxReply struct {
	ID        string // the same for the same reply
	Workspace string
	Chat      string
	Peer      string
	Task      string
	Final     bool // nothing more comes of the task
	Aside     bool // it answers nothing: the rows go on waiting
	Body      []byte
	Digest    []byte // of what its reader sees

	// Set by the store.
	State   string
	Tries   int
	Due     time.Time
	Tried   time.Time // when a try began of which nothing is known
	Error   string
	Created time.Time
}

// AnswerInbox commits a reply, with the end of the rows that it answers, unless it answers
// none: those of its task, and the one with the number n. A reply that is known is not made again, and one
// to rows that are not to be answered is not made at all; kept says whether it is there.
func (s *Store) AnswerInbox(ctx context.Context, n int64, reply InboxReply) (kept bool, err error) {
	now := nanos(s.now())
	err = s.do(ctx, "keep a reply", durable, func(c *conn) error {
		const those = " (n = ?1 OR task = ?2 AND task <> '')"
		const open = " state IN ('accepted', 'given')"
		answered, err := c.number("SELECT count(*) FROM inbox WHERE mute = '' AND"+those, n, reply.Task)
		if err != nil {
			return err
		}
		if kept = answered > 0; kept {
			err = c.addReply(&reply, now)
		}
		if err != nil || reply.Aside {
			return err
		}
		if kept {
			_, err = c.exec(`UPDATE inbox SET reply = ?3, changed = ?4, (state, body) =
				(SELECT CASE state WHEN 'due' THEN 'answered' WHEN 'dead' THEN 'dead' ELSE 'done' END, x'' FROM inbox_replies WHERE id = ?3)
				WHERE mute = '' AND`+open+" AND"+those, n, reply.Task, reply.ID, now)
			if err != nil {
				return err
			}
		}
		_, err = c.exec("UPDATE inbox SET state = 'done', note = mute, body = x'', changed = ?3 WHERE mute <> '' AND"+open+" AND"+those, n, reply.Task, now)
		return err
	})
	return kept, err
}

func (c *conn) addReply(r *InboxReply, now int64) error {
	_, err := c.exec(`INSERT INTO inbox_replies (id, workspace, chat, peer, task, final, body, digest, state, due_at, created, changed)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'due', ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
		r.ID, r.Workspace, r.Chat, r.Peer, r.Task, r.Final, blob(r.Body), blob(r.Digest), now, now, now)
	return err
}

const replyColumns = "id, workspace, chat, peer, task, final, digest, state, tries, due_at, tried_at, error, created"

func (s *Store) scanReply(row scanner, r *InboxReply) error {
	var due, tried, created int64
	err := row.Scan(&r.ID, &r.Workspace, &r.Chat, &r.Peer, &r.Task, &r.Final, &r.Digest, &r.State, &r.Tries, &due, &tried, &r.Error, &created)
	r.Due, r.Tried, r.Created = s.due(due), instant(tried), instant(created)
	return err
}

// FirstReplies returns the first reply of each chat that is to be sent, without its body,
// the one that is due first at the front.
func (s *Store) FirstReplies(ctx context.Context, limit int) ([]InboxReply, error) {
	return view(ctx, s, "list the replies to send", func(c *conn) ([]InboxReply, error) {
		return collect(c, s.scanReply, "SELECT "+replyColumns+` FROM inbox_replies WHERE n IN
			(SELECT min(n) FROM inbox_replies WHERE state = 'due' GROUP BY workspace, chat) ORDER BY due_at, n LIMIT ?`, limit)
	})
}

// Reply returns a reply with what it says. One that is not to be sent, or not any
// more, is [ErrUnknown].
func (s *Store) Reply(ctx context.Context, id string) (InboxReply, error) {
	return view(ctx, s, "read a reply", func(c *conn) (r InboxReply, err error) {
		found, err := collect(c, s.scanReply, "SELECT "+replyColumns+" FROM inbox_replies WHERE id = ? AND state = 'due'", id)
		if err == nil && len(found) == 0 {
			err = ErrUnknown
		}
		if err != nil {
			return r, err
		}
		r = found[0]
		return r, c.get("SELECT body FROM inbox_replies WHERE id = ?", list(id), &r.Body)
	})
}

// SetReplyBody replaces what a reply says that is not sent yet.
func (s *Store) SetReplyBody(ctx context.Context, id string, body []byte) error {
	return s.do(ctx, "note what a reply says", relaxed, func(c *conn) error {
		_, err := c.exec("UPDATE inbox_replies SET body = ? WHERE id = ? AND state = 'due'", blob(body), id)
		return err
	})
}

// BeginReply notes that a reply is about to be sent: until something else is noted, nobody
// knows whether it was.
func (s *Store) BeginReply(ctx context.Context, id string) error {
	now := nanos(s.now())
	return s.do(ctx, "begin to send a reply", relaxed, func(c *conn) error {
		_, err := c.exec("UPDATE inbox_replies SET tried_at = ?, changed = ?1 WHERE id = ?2 AND state = 'due'", now, id)
		return err
	})
}

// FinishReply ends a reply, and the rows that it answers.
func (s *Store) FinishReply(ctx context.Context, id string) error {
	return s.settleReply(ctx, id, ReplySent, InboxDone, "", nil)
}

// GiveUpReply gives a reply up, and the rows that it answers. Instead, if not nil, is said
// in its place.
func (s *Store) GiveUpReply(ctx context.Context, id, why string, instead *InboxReply) error {
	return s.settleReply(ctx, id, ReplyDead, InboxDead, why, instead)
}

func (s *Store) settleReply(ctx context.Context, id, state, row, why string, instead *InboxReply) error {
	now := nanos(s.now())
	return s.do(ctx, "note what became of a reply", durable, func(c *conn) error {
		// What is dead may be sent again, and keeps its body.
		_, err := c.exec(`UPDATE inbox_replies SET state = ?2, error = ?3, tried_at = 0, changed = ?4,
			body = CASE ?2 WHEN 'sent' THEN x'' ELSE body END WHERE id = ?1 AND state = 'due'`, id, state, why, now)
		if err == nil {
			_, err = c.exec("UPDATE inbox INDEXED BY inbox_reply SET state = ?2, note = ?3, changed = ?4 WHERE reply = ?1 AND reply <> '' AND state = 'answered'", id, row, why, now)
		}
		if err == nil && instead != nil {
			err = c.addReply(instead, now)
		}
		return err
	})
}

// PutOffReply counts a failed try and says when the next one is due. Unknown says that
// the reply may have been sent all the same.
func (s *Store) PutOffReply(ctx context.Context, id string, due time.Time, why string, unknown bool) error {
	return s.do(ctx, "put a reply off", relaxed, func(c *conn) error {
		_, err := c.exec(`UPDATE inbox_replies SET tries = tries + 1, due_at = ?2, error = ?3,
			tried_at = CASE WHEN ?4 THEN tried_at ELSE 0 END WHERE id = ?1 AND state = 'due'`, id, nanos(due), why, unknown)
		return err
	})
}

// RetryReply has a dead reply sent again: the one of that id, or of the row of that id.
// One that is not dead is [ErrUnknown].
func (s *Store) RetryReply(ctx context.Context, id string) error {
	now := nanos(s.now())
	return s.do(ctx, "send a reply again", durable, func(c *conn) error {
		var reply string
		err := c.get(`SELECT r.id FROM inbox_replies r LEFT JOIN inbox i INDEXED BY inbox_reply ON i.reply = r.id AND i.reply <> ''
			WHERE r.state = 'dead' AND (r.id = ?1 OR i.activity = ?1) ORDER BY r.n DESC LIMIT 1`, list(id), &reply)
		if err != nil {
			return err
		}
		if _, err := c.exec("UPDATE inbox_replies SET state = 'due', tries = 0, due_at = ?2, error = '', changed = ?2 WHERE id = ?1", reply, now); err != nil {
			return err
		}
		_, err = c.exec("UPDATE inbox INDEXED BY inbox_reply SET state = 'answered', note = '', changed = ?2 WHERE reply = ?1 AND reply <> '' AND state = 'dead'", reply, now)
		return err
	})
}

// A DeadLetter is a reply that was refused for good.
type DeadLetter struct {
	InboxReply
	Activity string // the row that it answers, the first if there are several
}

// DeadLetters returns them, the oldest first, with their bodies.
func (s *Store) DeadLetters(ctx context.Context, limit int) ([]DeadLetter, error) {
	return view(ctx, s, "list dead letters", func(c *conn) ([]DeadLetter, error) {
		scan := func(row scanner, d *DeadLetter) error {
			var changed int64
			err := row.Scan(&d.ID, &d.Workspace, &d.Chat, &d.Peer, &d.Tries, &d.Error, &d.Body, &changed, &d.Activity)
			d.Created, d.State = instant(changed), ReplyDead
			return err
		}
		return collect(c, scan, `SELECT r.id, r.workspace, r.chat, r.peer, r.tries, r.error, r.body, r.changed,
			coalesce((SELECT activity FROM inbox INDEXED BY inbox_reply WHERE reply = r.id AND reply <> '' ORDER BY n LIMIT 1), '')
			FROM inbox_replies r WHERE r.state = 'dead' ORDER BY r.n LIMIT ?`, limit)
	})
}

// CountSentReplies counts the replies of a workspace that its user sees as one of that digest,
// and that were sent since a time.
func (s *Store) CountSentReplies(ctx context.Context, workspace string, digest []byte, since time.Time) (int, error) {
	return view(ctx, s, "count what was said", func(c *conn) (int, error) {
		n, err := c.number("SELECT count(*) FROM inbox_replies INDEXED BY inbox_replies_finished WHERE state IN ('sent', 'dead') AND state = 'sent' AND changed >= ? AND workspace = ? AND digest = ? AND peer = ''",
			nanos(since), workspace, blob(digest))
		return int(n), err
	})
}

// InboxTasks returns the tasks that have said something and have not ended, as far as
// that is known.
func (s *Store) InboxTasks(ctx context.Context) ([]InboxRow, error) {
	return view(ctx, s, "list the tasks of the inbox", func(c *conn) ([]InboxRow, error) {
		return collect(c, scanInbox, "SELECT "+inboxColumns+` WHERE n IN (SELECT max(i.n) FROM inbox_replies r JOIN inbox i INDEXED BY inbox_task ON i.task = r.task AND i.task <> ''
			WHERE r.final = 0 AND r.task <> '' AND NOT EXISTS (SELECT 1 FROM inbox_replies e INDEXED BY inbox_replies_task WHERE e.task = r.task AND e.task <> '' AND e.final = 1)
			GROUP BY r.task) ORDER BY n`)
	})
}

// EndInboxTask notes that nothing more comes of a task.
func (s *Store) EndInboxTask(ctx context.Context, task string) error {
	return s.do(ctx, "end a task of the inbox", relaxed, func(c *conn) error {
		_, err := c.exec("UPDATE inbox_replies SET final = 1 WHERE task = ? AND task <> ''", task)
		return err
	})
}

// CountDueReplies counts the replies that are to be sent.
func (s *Store) CountDueReplies(ctx context.Context) (int, error) {
	return view(ctx, s, "count the replies to send", func(c *conn) (int, error) {
		n, err := c.number("SELECT count(*) FROM inbox_replies WHERE state = 'due'")
		if errors.Is(err, ErrUnknown) {
			err = nil
		}
		return int(n), err
	})
}
