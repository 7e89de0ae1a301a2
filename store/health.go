package store

import (
	"context"
	"errors"
	"os"
)

// Sizes says how much there is.
type Sizes struct {
	Database int64 // bytes of the file
	Log      int64 // bytes of the write-ahead log
	Tasks    int
	Events   int // batches of them
	Waiting  int // messages that have not had their turn
	Outbox   int // deliveries that have not been given up
}

// Sizes counts. Each count is an operation of its own, so that none of them
// keeps others waiting for long.
func (s *Store) Sizes(ctx context.Context) (sizes Sizes, err error) {
	for _, one := range []struct {
		into *int
		text string
	}{
		{&sizes.Tasks, "SELECT count(*) FROM tasks"},
		{&sizes.Events, "SELECT count(*) FROM events"},
		{&sizes.Waiting, "SELECT count(*) FROM messages WHERE ended = 0"},
		{&sizes.Outbox, "SELECT count(*) FROM outbox WHERE dead = 0"},
	} {
		n, err := view(ctx, s, "count", func(c *conn) (int64, error) { return c.number(one.text) })
		if err != nil {
			return Sizes{}, err
		}
		*one.into = int(n)
	}
	// The names are asked for their sizes: opening the files would drop SQLite's locks.
	for path, into := range map[string]*int64{s.path: &sizes.Database, s.path + "-wal": &sizes.Log} {
		if info, err := os.Stat(path); err == nil {
			*into = info.Size()
		}
	}
	return sizes, nil
}

// Check reads the whole database and returns [ErrCorrupt] if it is not sound.
// Everything else waits meanwhile.
func (s *Store) Check(ctx context.Context) error {
	found, err := view(ctx, s, "check the database", func(c *conn) ([]string, error) {
		return collect(c, only[string], "PRAGMA integrity_check(10)")
	})
	if err != nil {
		return err
	}
	var faults []error
	for _, text := range found {
		if text != "ok" {
			faults = append(faults, errors.New(text))
		}
	}
	if len(faults) > 0 {
		return damaged(s.path, errors.Join(faults...))
	}
	return nil
}
