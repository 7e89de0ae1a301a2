package store

import (
	"context"
	"fmt"
	"time"
)

// Identity is an id of this state, which it keeps for as long as it lives.
func (s *Store) Identity(ctx context.Context) (string, error) {
	ids, err := view(ctx, s, "read the id of the state", func(c *conn) ([]string, error) {
		return collect(c, only[string], "SELECT id FROM identity")
	})
	if err == nil && len(ids) != 1 {
		err = fmt.Errorf("the state has %d ids, and not one", len(ids))
	}
	if err != nil {
		return "", err
	}
	return ids[0], nil
}

// Epoch is the last that machines were told; 0 before the first.
func (s *Store) Epoch(ctx context.Context) (last int64, err error) {
	all, err := view(ctx, s, "read the epoch of the machines", func(c *conn) ([]int64, error) {
		return collect(c, only[int64], "SELECT epoch FROM identity")
	})
	for _, epoch := range all {
		last = max(last, epoch)
	}
	return last, err
}

// RecordEpoch notes the one that machines are told from now on.
func (s *Store) RecordEpoch(ctx context.Context, epoch int64) error {
	return s.do(ctx, "note the epoch of the machines", durable, func(c *conn) error {
		_, err := c.exec("UPDATE identity SET epoch = ?1", epoch)
		return err
	})
}

// Placements returns which machine each conversation is on that is on one.
func (s *Store) Placements(ctx context.Context) (map[string]string, error) {
	all := map[string]string{}
	_, err := view(ctx, s, "list which conversations are on which machines", func(c *conn) ([]struct{}, error) {
		scan := func(row scanner, _ *struct{}) error {
			var conversation, machine string
			err := row.Scan(&conversation, &machine)
			all[conversation] = machine
			return err
		}
		return collect(c, scan, "SELECT conversation, machine FROM placements")
	})
	return all, err
}

// RecordPlacement notes that a conversation is on a machine from now on. With the conversation that is forgotten.
func (s *Store) RecordPlacement(ctx context.Context, conversation, machine string) error {
	return s.do(ctx, "note which machine a conversation is on", durable, func(c *conn) error {
		_, err := c.exec("INSERT INTO placements (conversation, machine, placed_at) VALUES (?1, ?2, ?3) ON CONFLICT (conversation) DO UPDATE SET machine = ?2, placed_at = ?3",
			conversation, machine, nanos(time.Now()))
		return err
	})
}
