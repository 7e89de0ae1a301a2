package store

import (
	"strings"

	"zombiezen.com/go/sqlite"
)

// A conn is the only connection to the database. It is used by one goroutine.
// Its operations are short and are never cut off half way, so they take no context.
type conn struct {
	raw     *sqlite.Conn // which keeps statements prepared, by their text; the texts are constants of this package
	known   known
	catalog catalog
	passed  [classes]ended // the last of each class that this sweep has passed over
	rowsDue int64          // the rows of inboxes and replies at which it is looked again whether there are too many
}

// dial opens path, which must exist unless create is set.
func dial(path string, create bool) (*conn, error) {
	flags := sqlite.OpenReadWrite
	if create {
		flags |= sqlite.OpenCreate
	}
	raw, err := sqlite.OpenConn(path, flags)
	if err != nil {
		return nil, err
	}
	raw.SetBusyTimeout(0) // who else has it open will not let go of it
	return &conn{raw: raw, known: newKnown(), catalog: newCatalog()}, nil
}

func (c *conn) close() error { return c.raw.Close() }

// script runs statements that are not worth keeping prepared, or must not be:
// some pragmas work while they are prepared.
func (c *conn) script(text string) error {
	for text = strings.TrimSpace(text); text != ""; {
		stmt, rest, err := c.raw.PrepareTransient(text)
		if err != nil {
			return err
		}
		text = strings.TrimSpace(text[len(text)-rest:])
		more := true
		for more && err == nil {
			more, err = stmt.Step()
		}
		if end := stmt.Finalize(); err == nil {
			err = end
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// exec runs a statement and returns how many rows it changed.
func (c *conn) exec(text string, args ...any) (int64, error) {
	if err := c.each(text, args, nil); err != nil {
		return 0, err
	}
	return int64(c.raw.Changes()), nil
}

// insert runs an INSERT and returns the number of its row.
func (c *conn) insert(text string, args ...any) (int64, error) {
	if err := c.each(text, args, nil); err != nil {
		return 0, err
	}
	return c.raw.LastInsertRowID(), nil
}

// each runs a statement, and calls f for each row.
func (c *conn) each(text string, args []any, f func(scanner) error) (err error) {
	stmt, err := c.raw.Prepare(text)
	if err != nil {
		return err
	}
	defer func() {
		if end := stmt.Reset(); err == nil {
			err = end
		}
	}()
	for i, arg := range args {
		if err := bind(stmt, i+1, arg); err != nil {
			return err
		}
	}
	for {
		more, err := stmt.Step()
		if err != nil || !more {
			return err
		}
		if f != nil {
			if err := f(row{stmt}); err != nil {
				return err
			}
		}
	}
}

// get scans the first row into dest, or returns [ErrUnknown].
func (c *conn) get(text string, args []any, dest ...any) error {
	found := false
	err := c.each(text, args, func(r scanner) error {
		if found {
			return nil
		}
		found = true
		return r.Scan(dest...)
	})
	if err == nil && !found {
		return ErrUnknown
	}
	return err
}

// number returns the first column of the first row.
func (c *conn) number(text string, args ...any) (n int64, err error) {
	err = c.get(text, args, &n)
	return n, err
}

// collect returns all rows.
func collect[T any](c *conn, scan func(scanner, *T) error, text string, args ...any) ([]T, error) {
	var all []T
	err := c.each(text, args, func(r scanner) error {
		var one T
		if err := scan(r, &one); err != nil {
			return err
		}
		all = append(all, one)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}
