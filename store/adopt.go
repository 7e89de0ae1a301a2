package store

import (
	"context"
	"maps"
	"slices"
)

// AdoptThreads gives threads that another program has begun to conversations that have none,
// with the name of their set of tools. It returns how many it has given. They are not
// ours: they are never left over, and their files stay.
func (s *Store) AdoptThreads(ctx context.Context, threads map[string]string, tools string) (given int, err error) {
	now := nanos(s.now())
	err = s.do(ctx, "adopt threads", durable, func(c *conn) error {
		given = 0
		for _, conversation := range slices.Sorted(maps.Keys(threads)) {
			n, err := c.exec("INSERT INTO conversations (key, thread_id, used_at, tools) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO NOTHING",
				conversation, threads[conversation], now, tools)
			if err != nil {
				return err
			}
			given += int(n)
		}
		return nil
	})
	return given, err
}
