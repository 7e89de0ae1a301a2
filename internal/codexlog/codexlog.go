// Package codexlog keeps the log that codex writes into a database of its home within
// bounds. codex writes down what it does at every level, some 40 KB for each thread,
// without a setting that stops it, and deletes rows only when it starts, after ten days
// (seen on 0.169.0).
//
// codex may run meanwhile, and so may others on the same home: the rows are deleted as any
// other client of the database would do it, a few at a time, and only those of threads
// that the caller names.
package codexlog

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver
)

// Bounds says when a log is too large, and what is left of it then.
type Bounds struct {
	Bytes int64 // of the database and what is not checkpointed yet; up to here nothing is done
	Rows  int64 // that stay: the newest
}

// A step is small enough that codex, which waits for the database, does not notice it.
const (
	rowsAtOnce  = 2000
	pagesAtOnce = 1000
)

// Trim deletes the oldest rows of these threads if the log in home is larger than the
// bounds, and gives their room back to the disk. threads is asked only then. A home
// without a log is fine. When ctx ends, the rest is left for the next time.
func Trim(ctx context.Context, home string, b Bounds, threads func(context.Context) ([]string, error)) (deleted int64, err error) {
	path, size := find(home)
	if size <= b.Bytes {
		return 0, nil
	}
	ids, err := threads(ctx)
	if err != nil {
		return 0, err
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return 0, err
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: "mode=rw&_pragma=busy_timeout(5000)"}).String())
	if err != nil {
		return 0, fmt.Errorf("codex's log: %w", err)
	}
	db.SetMaxOpenConns(1)
	deleted, err = trim(ctx, db, string(list), b.Rows)
	if err := errors.Join(err, db.Close()); err != nil {
		return deleted, fmt.Errorf("codex's log %s: %w", path, err)
	}
	return deleted, nil
}

// find returns the newest log of a home and its size, 0 if there is none.
func find(home string) (path string, size int64) {
	names, _ := filepath.Glob(filepath.Join(home, "logs_*.sqlite"))
	for _, name := range names { // in order: the last one is that of the newest codex
		path, size = name, sizeOf(name)+sizeOf(name+"-wal")
	}
	return path, size
}

func sizeOf(name string) int64 {
	info, err := os.Stat(name)
	if err != nil {
		return 0
	}
	return info.Size()
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
