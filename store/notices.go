package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// The states of a [Notice].
const (
	NoticePending  = "pending"   // not tried yet
	NoticeFailed   = "failed"    // the last try was in vain
	NoticeSent     = "sent"      // it has arrived, and is not sent again
	NoticeNoTarget = "no_target" // there is nobody to tell, and somebody has asked
)

// A Notice is what is said of a task's end to somebody who was named with one of
// its messages. A task has one at most.
type Notice struct {
	Target string // empty if nobody was named
	Body   []byte
	Status string    // one of the states; empty means that nobody has asked about one without a target
	Error  string    // of the last try
	Tries  int       // failed so far
	Due    time.Time // of the next try by itself; the zero time means that there is none
	Sent   time.Time

	// Set by the store.
	Task    string
	Created time.Time
}

const noticeColumns = "t.id, o.target, o.body, o.status, o.error, o.tries, o.due_at, o.sent_at, o.created FROM notices o JOIN tasks t ON t.n = o.task"

func (s *Store) scanNotice(row scanner, n *Notice) error {
	var due, sent, created int64
	err := row.Scan(&n.Task, &n.Target, &n.Body, &n.Status, &n.Error, &n.Tries, &due, &sent, &created)
	n.Due, n.Sent, n.Created = s.due(due), instant(sent), instant(created)
	return err
}

// briefNotice reads the notice that stands in the row of its task.
func briefNotice(task string, row []byte) (*Notice, error) {
	var n struct {
		Target, Status, Error string
		SentAt                int64
	}
	err := json.Unmarshal(row, &n)
	return &Notice{Task: task, Target: n.Target, Status: n.Status, Error: n.Error, Sent: instant(n.SentAt)}, err
}

// addNotice puts in the notice of a task that has ended.
func (c *conn) addNotice(task int64, n *Notice, now int64) error {
	if n == nil {
		return nil
	}
	_, err := c.exec(`INSERT INTO notices (task, target, body, status, due_at, created) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (task) DO NOTHING`, task, n.Target, blob(n.Body), n.Status, nanos(n.Due), now)
	return err
}

// Notice returns that of a task, or [ErrUnknown].
func (s *Store) Notice(ctx context.Context, task string) (Notice, error) {
	return view(ctx, s, "read a notice", func(c *conn) (Notice, error) {
		found, err := collect(c, s.scanNotice, "SELECT "+noticeColumns+" WHERE t.id = ?", task)
		if err == nil && len(found) == 0 {
			err = ErrUnknown
		}
		if err != nil {
			return Notice{}, err
		}
		return found[0], nil
	})
}

// Notices returns those that have not arrived, and those without a target that
// nobody has asked for, in the order in which their tasks have ended.
func (s *Store) Notices(ctx context.Context, limit int) ([]Notice, error) {
	return view(ctx, s, "list the notices", func(c *conn) ([]Notice, error) {
		return collect(c, s.scanNotice, "SELECT "+noticeColumns+` WHERE o.status IN ('', 'pending', 'failed')
			ORDER BY o.created, o.task LIMIT ?`, limit)
	})
}

// NoticesToSend tells of those that are to be tried by themselves, without their bodies, until told
// is false: those that were never tried first, and of either the one that is due first.
func (s *Store) NoticesToSend(ctx context.Context, told func(Notice) bool) error {
	const columns = "t.id, o.target, x'', o.status, '', o.tries, o.due_at, o.sent_at, o.created FROM notices o JOIN tasks t ON t.n = o.task"
	_, err := view(ctx, s, "list the notices to send", func(c *conn) (none struct{}, err error) {
		err = c.each("SELECT "+columns+` WHERE o.status IN ('', 'pending', 'failed') AND o.due_at > 0
			ORDER BY o.tries > 0, o.due_at, o.task`, nil, func(r scanner) error {
			var n Notice
			if err := s.scanNotice(r, &n); err != nil {
				return err
			}
			if !told(n) {
				return errEnough
			}
			return nil
		})
		if errors.Is(err, errEnough) {
			err = nil
		}
		return none, err
	})
	return err
}

// errEnough ends a list.
var errEnough = errors.New("enough")

// SetNotice notes what became of a notice: its state, error, tries and times. One
// that was sent stays so.
func (s *Store) SetNotice(ctx context.Context, n Notice) error {
	return s.do(ctx, "note what became of a notice", durable, func(c *conn) error {
		task, err := c.taskNumber(n.Task)
		if err != nil {
			return err
		}
		_, err = c.exec("UPDATE notices SET status = ?, error = ?, tries = ?, due_at = ?, sent_at = ? WHERE task = ? AND status <> 'sent'",
			n.Status, n.Error, n.Tries, nanos(n.Due), nanos(n.Sent), task)
		return err
	})
}
