package store

import "context"

// SetPush adds a push notification setting to a task, or replaces it.
func (s *Store) SetPush(ctx context.Context, task string, p Push) error {
	return s.do(ctx, "set push notifications", durable, func(c *conn) error {
		n, err := c.taskNumber(task)
		if err != nil {
			return err
		}
		return c.setPush(n, p)
	})
}

func (c *conn) setPush(task int64, p Push) error {
	_, err := c.exec("INSERT OR REPLACE INTO push_configs (task, id, body) VALUES (?, ?, ?)", task, p.ID, blob(p.Body))
	return err
}

// Pushes returns the push notification settings of a task, in the order of their ids.
func (s *Store) Pushes(ctx context.Context, task string) ([]Push, error) {
	return view(ctx, s, "read push notifications", func(c *conn) ([]Push, error) {
		n, err := c.taskNumber(task)
		if err != nil {
			return nil, err
		}
		scan := func(row scanner, p *Push) error { return row.Scan(&p.ID, &p.Body) }
		return collect(c, scan, "SELECT id, body FROM push_configs WHERE task = ? ORDER BY id", n)
	})
}

// DropPush deletes a push notification setting of a task, or returns [ErrUnknown].
func (s *Store) DropPush(ctx context.Context, task, id string) error {
	return s.do(ctx, "drop push notifications", durable, func(c *conn) error {
		n, err := c.taskNumber(task)
		if err != nil {
			return err
		}
		dropped, err := c.exec("DELETE FROM push_configs WHERE task = ? AND id = ?", n, id)
		if err == nil && dropped == 0 {
			err = ErrUnknown
		}
		return err
	})
}
