package store

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"time"

	_ "modernc.org/sqlite" // the driver
)

// A conn is the only connection to the database. It is used by one goroutine.
// Its operations are short and are never cut off half way, so they take no context.
type conn struct {
	db    *sql.DB
	raw   *sql.Conn
	stmts map[string]*sql.Stmt // by text; the texts are constants of this package
	known known
}

// dial opens path, which must exist unless create is set.
func dial(path string, create bool) (*conn, error) {
	mode := "rw"
	if create {
		mode = "rwc"
	}
	name := (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: "mode=" + mode}).String()
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, err
	}
	raw, err := db.Conn(context.Background())
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return &conn{db: db, raw: raw, stmts: map[string]*sql.Stmt{}, known: newKnown()}, nil
}

func (c *conn) close() error {
	for _, stmt := range c.stmts {
		_ = stmt.Close()
	}
	return errors.Join(c.raw.Close(), c.db.Close())
}

// script runs statements that are not worth keeping prepared, or must not be:
// some pragmas work while they are prepared.
func (c *conn) script(text string) error {
	_, err := c.raw.ExecContext(context.Background(), text)
	return err
}

func (c *conn) prepared(text string) (*sql.Stmt, error) {
	if stmt := c.stmts[text]; stmt != nil {
		return stmt, nil
	}
	stmt, err := c.raw.PrepareContext(context.Background(), text)
	if err != nil {
		return nil, err
	}
	c.stmts[text] = stmt
	return stmt, nil
}

// exec runs a statement and returns how many rows it changed.
func (c *conn) exec(text string, args ...any) (int64, error) {
	result, err := c.run(text, args)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// insert runs an INSERT and returns the number of its row.
func (c *conn) insert(text string, args ...any) (int64, error) {
	result, err := c.run(text, args)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

func (c *conn) run(text string, args []any) (sql.Result, error) {
	stmt, err := c.prepared(text)
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(context.Background(), args...)
}

// get scans the first row into dest, or returns [ErrUnknown].
func (c *conn) get(text string, args []any, dest ...any) error {
	stmt, err := c.prepared(text)
	if err != nil {
		return err
	}
	err = stmt.QueryRowContext(context.Background(), args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrUnknown
	}
	return err
}

// number returns the first column of the first row.
func (c *conn) number(text string, args ...any) (n int64, err error) {
	err = c.get(text, args, &n)
	return n, err
}

// A scanner is a row.
type scanner interface{ Scan(dest ...any) error }

// collect returns all rows.
func collect[T any](c *conn, scan func(scanner, *T) error, text string, args ...any) (_ []T, err error) {
	stmt, err := c.prepared(text)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.QueryContext(context.Background(), args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var all []T
	for rows.Next() {
		var one T
		if err := scan(rows, &one); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// only scans a row of one column.
func only[T any](row scanner, v *T) error { return row.Scan(v) }

// list is a list of values to bind, for the calls that take one.
func list(args ...any) []any { return args }

// nanos is how times are kept.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func instant(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// blob makes nothing an empty value: SQLite would take a nil slice for NULL.
func blob(body []byte) []byte {
	if body == nil {
		return []byte{}
	}
	return body
}
