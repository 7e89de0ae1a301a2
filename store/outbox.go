package store

import (
	"context"
	"time"
)

// Patience is how long a delivery is tried, from when it was put in. For as long its task is
// not forgotten for the sake of room.
const Patience = 24 * time.Hour

// send puts deliveries into the outbox.
func (c *conn) send(task int64, deliveries []Delivery, now int64) error {
	for _, d := range deliveries {
		of := task
		if d.Task != "" {
			var err error
			if of, err = c.taskNumber(d.Task); err != nil {
				return err
			}
		}
		if d.Replaces {
			if _, err := c.exec("DELETE FROM outbox WHERE task = ? AND kind = ? AND dead = 0", of, d.Kind); err != nil {
				return err
			}
		}
		due := now
		if !d.Due.IsZero() {
			due = nanos(d.Due)
		}
		_, err := c.exec("INSERT INTO outbox (kind, task, target, body, due_at, created) VALUES (?, ?, ?, ?, ?, ?)",
			d.Kind, of, d.Target, blob(d.Body), due, now)
		if err != nil {
			return err
		}
	}
	return nil
}

// outboxColumns are those of a delivery behind its body.
const outboxColumns = `, o.id, o.kind, coalesce(t.id, ''), coalesce(t.conversation, ''), o.target, length(o.body), o.tries, o.due_at, o.created
	FROM outbox o LEFT JOIN tasks t ON t.n = o.task`

// Deliveries returns deliveries of a kind that are still to be made, in the order in
// which they were put in: those behind the one with the id after, without their bodies.
func (s *Store) Deliveries(ctx context.Context, kind string, after int64, limit int) ([]Delivery, error) {
	return view(ctx, s, "read the outbox", func(c *conn) ([]Delivery, error) {
		return collect(c, s.scanDelivery, `SELECT x''`+outboxColumns+`
			WHERE o.id > ? AND o.dead = 0 AND o.kind = ? ORDER BY o.id LIMIT ?`, after, kind, limit)
	})
}

// Delivery returns one that is still to be made, or [ErrUnknown].
func (s *Store) Delivery(ctx context.Context, id int64) (Delivery, error) {
	return view(ctx, s, "read the outbox", func(c *conn) (Delivery, error) {
		found, err := collect(c, s.scanDelivery, "SELECT o.body"+outboxColumns+`
			WHERE o.id = ? AND o.dead = 0`, id)
		if err == nil && len(found) == 0 {
			err = ErrUnknown
		}
		if err != nil {
			return Delivery{}, err
		}
		return found[0], nil
	})
}

func (s *Store) scanDelivery(row scanner, d *Delivery) error {
	var due, created int64
	err := row.Scan(&d.Body, &d.ID, &d.Kind, &d.Task, &d.Conversation, &d.Target, &d.Size, &d.Tries, &due, &created)
	d.Due, d.Created = s.due(due), instant(created)
	return err
}

// SentTo returns the newest delivery of a kind to a target, also one that was given up, without its
// body, or [ErrUnknown].
func (s *Store) SentTo(ctx context.Context, kind, target string) (Delivery, error) {
	return view(ctx, s, "read the outbox", func(c *conn) (Delivery, error) {
		found, err := collect(c, s.scanDelivery, "SELECT x''"+outboxColumns+`
			WHERE o.kind = ? AND o.target = ? AND o.target <> '' ORDER BY o.id DESC LIMIT 1`, kind, target)
		if err == nil && len(found) == 0 {
			err = ErrUnknown
		}
		if err != nil {
			return Delivery{}, err
		}
		return found[0], nil
	})
}

// AimDelivery notes where a delivery has gone that stays to be looked after, and counts that; "" is nowhere any
// more, and is not counted.
func (s *Store) AimDelivery(ctx context.Context, id int64, target string) error {
	return s.do(ctx, "note where a delivery has gone", durable, func(c *conn) error {
		_, err := c.exec("UPDATE outbox SET target = ?1, tries = tries + (?1 <> '') WHERE id = ?2", target, id)
		return err
	})
}

// Asked reports whether a question of a task is open, or its answer under way.
func (s *Store) Asked(ctx context.Context, task, question string) (bool, error) {
	return view(ctx, s, "look a question up", func(c *conn) (bool, error) {
		n, err := c.number("SELECT EXISTS (SELECT 1 FROM questions WHERE id = ?2 AND task = (SELECT n FROM tasks WHERE id = ?1))", task, question)
		return n > 0, err
	})
}

// FinishDelivery deletes a delivery that has arrived, or need not be made any more. That it
// has happened may be forgotten when the machine dies: a delivery is made at least once.
func (s *Store) FinishDelivery(ctx context.Context, id int64) error {
	return s.do(ctx, "clear the outbox", relaxed, func(c *conn) error {
		_, err := c.exec("DELETE FROM outbox WHERE id = ?", id)
		return err
	})
}

// WithdrawDeliveries deletes the deliveries of a kind that a task still has to make.
func (s *Store) WithdrawDeliveries(ctx context.Context, kind, task string) error {
	return s.do(ctx, "take a delivery back", relaxed, func(c *conn) error {
		_, err := c.exec("DELETE FROM outbox WHERE task = (SELECT n FROM tasks WHERE id = ?) AND kind = ? AND dead = 0", task, kind)
		return err
	})
}

// ExpediteDeliveries makes those deliveries due now.
func (s *Store) ExpediteDeliveries(ctx context.Context, kind, task string) error {
	now := nanos(s.now())
	return s.do(ctx, "hasten a delivery", relaxed, func(c *conn) error {
		_, err := c.exec("UPDATE outbox SET due_at = min(due_at, ?) WHERE task = (SELECT n FROM tasks WHERE id = ?) AND kind = ? AND dead = 0", now, task, kind)
		return err
	})
}

// PutOffDelivery counts a failed try, and says when the next one is due.
func (s *Store) PutOffDelivery(ctx context.Context, id int64, due time.Time) error {
	return s.do(ctx, "put a delivery off", relaxed, func(c *conn) error {
		_, err := c.exec("UPDATE outbox SET tries = tries + 1, due_at = ? WHERE id = ?", nanos(due), id)
		return err
	})
}

// GiveUpDelivery gives a delivery up. It is kept for a week, to be looked at, without its body:
// that would take room that nothing else is let go for.
func (s *Store) GiveUpDelivery(ctx context.Context, id int64) error {
	now := nanos(s.now())
	return s.do(ctx, "give a delivery up", relaxed, func(c *conn) error {
		_, err := c.exec("UPDATE outbox SET dead = 1, due_at = ?, body = x'' WHERE id = ?", now, id)
		return err
	})
}
