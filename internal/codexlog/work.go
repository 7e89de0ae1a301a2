package codexlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// A step is small enough that codex, which waits for the database, does not notice it.
const (
	rowsAtOnce  = 2000
	pagesAtOnce = 1000
)

// Work is what the process does that a [Trimmer] starts: it deletes all but so many rows from
// the log at path, of the threads that stdin lists, and says how many those were. It returns
// the exit code.
func Work(ctx context.Context, path string, keep int64, stdin io.Reader, stdout, stderr io.Writer) int {
	deleted, err := work(ctx, path, keep, stdin)
	if err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		return 1
	}
	_, _ = fmt.Fprintln(stdout, deleted)
	return 0
}

func work(ctx context.Context, path string, keep int64, stdin io.Reader) (deleted int64, err error) {
	if err := limitMemory(); err != nil {
		return 0, fmt.Errorf("limit the memory: %w", err)
	}
	list, err := io.ReadAll(stdin)
	if err != nil {
		return 0, err
	}
	if !json.Valid(list) {
		return 0, errors.New("the threads do not stand on standard input")
	}
	db, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return 0, err
	}
	db.SetInterrupt(ctx.Done())
	db.SetBusyTimeout(5 * time.Second)
	if err = plain(db); err == nil {
		deleted, err = trim(db, string(list), keep)
	}
	return deleted, errors.Join(err, db.Close())
}

// do runs a statement to its end, and has each row of its result taken.
func do(db *sqlite.Conn, text string, each func(*sqlite.Stmt) error, args ...any) error {
	return sqlitex.ExecuteTransient(db, text, &sqlitex.ExecOptions{Args: args, ResultFunc: each})
}

// plain refuses a log in which rows are more than rows: what a view, a virtual table or a
// trigger does is its maker's.
func plain(db *sqlite.Conn) error {
	if err := errors.Join(do(db, "PRAGMA temp_store = memory", nil), do(db, "PRAGMA trusted_schema = off", nil)); err != nil {
		return err
	}
	return do(db, `SELECT type || ' ' || substr(name, 1, 64) FROM sqlite_schema
		WHERE type = 'trigger' OR name = 'logs' COLLATE NOCASE AND (type <> 'table' OR rootpage = 0)`,
		func(odd *sqlite.Stmt) error {
			return fmt.Errorf("it has the %s, which codex does not make: move it out of CODEX_HOME", odd.ColumnText(0))
		})
}

// trim deletes in no order, so that no step sorts all that are left.
func trim(db *sqlite.Conn, threads string, keep int64) (deleted int64, err error) {
	for {
		err := do(db, `DELETE FROM logs WHERE id IN (
			SELECT id FROM logs WHERE id <= (SELECT max(id) FROM logs) - ?
			AND thread_id IN (SELECT value FROM json_each(?)) LIMIT ?)`, nil, keep, threads, rowsAtOnce)
		if err != nil {
			return deleted, err
		}
		n := int64(db.Changes())
		if deleted += n; n < rowsAtOnce {
			return deleted, shrink(db)
		}
	}
}

// shrink gives free pages back. codex makes its log so that this can be done, and does
// not do it.
func shrink(db *sqlite.Conn) error {
	for before := int64(-1); ; {
		var free int64
		if err := do(db, "PRAGMA freelist_count", func(row *sqlite.Stmt) error { free = row.ColumnInt64(0); return nil }); err != nil {
			return err
		}
		if free == 0 || free == before { // the second: this database cannot shrink
			break
		}
		before = free
		if err := do(db, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", pagesAtOnce), nil); err != nil {
			return err
		}
	}
	return do(db, "PRAGMA wal_checkpoint(TRUNCATE)", nil) // as far as readers let it
}
