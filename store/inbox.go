package store

import (
	"context"
	"time"
)

// A Received is a message that was fetched from a source and is to be dealt with.
type Received struct {
	ID    string // unique in its source
	Body  []byte
	State string
	At    time.Time // set by the store
}

// Receive keeps messages of a source. Those that are known stay as they are.
func (s *Store) Receive(ctx context.Context, source string, messages ...Received) error {
	now := nanos(s.now())
	return s.do(ctx, "receive messages", promised, func(c *conn) error {
		for _, m := range messages {
			_, err := c.exec(`INSERT INTO inbox (source, id, body, received_at, state) VALUES (?, ?, ?, ?, ?)
				ON CONFLICT (source, id) DO NOTHING`, source, m.ID, blob(m.Body), now, m.State)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Received returns messages of a source that are in a state, in the order in
// which they were received.
func (s *Store) Received(ctx context.Context, source, state string, limit int) ([]Received, error) {
	return view(ctx, s, "read received messages", func(c *conn) ([]Received, error) {
		scan := func(row scanner, m *Received) error {
			var at int64
			err := row.Scan(&m.ID, &m.Body, &m.State, &at)
			m.At = instant(at)
			return err
		}
		return collect(c, scan, `SELECT id, body, state, received_at FROM inbox
			WHERE source = ? AND state = ? ORDER BY seq LIMIT ?`, source, state, limit)
	})
}

// SetReceived changes the state of a received message, or returns [ErrUnknown].
func (s *Store) SetReceived(ctx context.Context, source, id, state string) error {
	return s.do(ctx, "note what became of a received message", promised, func(c *conn) error {
		n, err := c.exec("UPDATE inbox SET state = ? WHERE source = ? AND id = ?", state, source, id)
		if err == nil && n == 0 {
			err = ErrUnknown
		}
		return err
	})
}

// DropReceived deletes messages of a source that are in a state and were
// received before a time.
func (s *Store) DropReceived(ctx context.Context, source, state string, before time.Time) error {
	return s.do(ctx, "drop received messages", relaxed, func(c *conn) error {
		_, err := c.exec("DELETE FROM inbox WHERE source = ? AND state = ? AND received_at < ?", source, state, nanos(before))
		return err
	})
}
