package codexlog

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"

	_ "modernc.org/sqlite" // the driver
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
	query := "mode=rw&_pragma=busy_timeout(5000)&_pragma=temp_store(memory)&_pragma=trusted_schema(off)"
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: query}).String())
	if err != nil {
		return 0, err
	}
	db.SetMaxOpenConns(1)
	if err = plain(ctx, db); err == nil {
		deleted, err = trim(ctx, db, string(list), keep)
	}
	return deleted, errors.Join(err, db.Close())
}

// plain refuses a log in which rows are more than rows: what a view, a virtual table or a
// trigger does is its maker's.
func plain(ctx context.Context, db *sql.DB) error {
	var odd string
	err := db.QueryRowContext(ctx, `SELECT type || ' ' || substr(name, 1, 64) FROM sqlite_schema
		WHERE type = 'trigger' OR name = 'logs' COLLATE NOCASE AND (type <> 'table' OR rootpage = 0)`).Scan(&odd)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("it has the %s, which codex does not make: move it out of CODEX_HOME", odd)
}

// trim deletes in no order, so that no step sorts all that are left.
func trim(ctx context.Context, db *sql.DB, threads string, keep int64) (deleted int64, err error) {
	for {
		result, err := db.ExecContext(ctx, `DELETE FROM logs WHERE id IN (
			SELECT id FROM logs WHERE id <= (SELECT max(id) FROM logs) - ?
			AND thread_id IN (SELECT value FROM json_each(?)) LIMIT ?)`, keep, threads, rowsAtOnce)
		if err != nil {
			return deleted, err
		}
		n, err := result.RowsAffected()
		if err != nil {
			return deleted, err
		}
		if deleted += n; n < rowsAtOnce {
			return deleted, shrink(ctx, db)
		}
	}
}

// shrink gives free pages back. codex makes its log so that this can be done, and does
// not do it.
func shrink(ctx context.Context, db *sql.DB) error {
	for before := int64(-1); ; {
		var free int64
		if err := db.QueryRowContext(ctx, "PRAGMA freelist_count").Scan(&free); err != nil {
			return err
		}
		if free == 0 || free == before { // the second: this database cannot shrink
			break
		}
		before = free
		if err := vacuum(ctx, db); err != nil {
			return err
		}
	}
	_, err := db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)") // as far as readers let it
	return err
}

// vacuum is a query to the driver: each row that is asked for is a page that is freed.
func vacuum(ctx context.Context, db *sql.DB) error {
	rows, err := db.QueryContext(ctx, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", pagesAtOnce))
	if err != nil {
		return err
	}
	for rows.Next() {
	}
	return errors.Join(rows.Err(), rows.Close())
}
