package store

import "context"

// Sweep applies the retention now, to its end. The store does it by itself once
// a minute, when nothing else is to be done.
func (s *Store) Sweep(ctx context.Context) error {
	if err := s.catalog(ctx, "forget old tasks"); err != nil {
		return err
	}
	for first, more := true, true; more; first = false {
		now, aged := s.now(), s.aged()
		err := s.do(ctx, "forget old tasks", relaxed, func(c *conn) (err error) {
			if first { // what the sweep of the writer's has passed over may go by now
				c.passed = [classes]ended{}
			}
			more, err = c.sweep(s.retention, now, aged)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
