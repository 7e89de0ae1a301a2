package codexlog_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/codexlog"
)

// logOf makes a log as codex 0.169.0 does, with so many rows for each thread, one thread
// after the other; an empty name is no thread.
func logOf(t *testing.T, home string, each int, threads ...string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(home, "logs_2.sqlite")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	exec(t, db, `PRAGMA auto_vacuum = INCREMENTAL`)
	exec(t, db, `PRAGMA journal_mode = WAL`)
	exec(t, db, `CREATE TABLE logs (id INTEGER PRIMARY KEY AUTOINCREMENT, thread_id TEXT, feedback_log_body TEXT)`)
	exec(t, db, `BEGIN`)
	for _, thread := range threads {
		for range each {
			exec(t, db, `INSERT INTO logs (thread_id, feedback_log_body) VALUES (nullif(?, ''), ?)`, thread, strings.Repeat("x", 1000))
		}
	}
	exec(t, db, `COMMIT`)
	return db
}

func exec(t *testing.T, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, db *sql.DB, thread string) (n int) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM logs WHERE coalesce(thread_id, '') = ?`, thread).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func are(threads ...string) func(context.Context) ([]string, error) {
	return func(context.Context) ([]string, error) { return slices.Clone(threads), nil }
}

// TestTrim: the oldest rows of our threads go, and the file becomes smaller, while codex
// has it open. Those of others stay.
func TestTrim(t *testing.T) {
	home := t.TempDir()
	db := logOf(t, home, 3000, "mine", "theirs", "", "ours")
	exec(t, db, `PRAGMA wal_checkpoint(TRUNCATE)`)
	file := filepath.Join(home, "logs_2.sqlite")
	before := size(t, file)
	deleted, err := codexlog.Trim(t.Context(), home, codexlog.Bounds{Bytes: 1 << 20, Rows: 100}, are("ours", "mine", "gone"))
	if err != nil || deleted != 5900 {
		t.Fatalf("Trim = %d, %v, want 5900 rows deleted", deleted, err)
	}
	for thread, want := range map[string]int{"ours": 100, "mine": 0, "theirs": 3000, "": 3000} {
		if got := count(t, db, thread); got != want {
			t.Errorf("%d rows of thread %q are left, want %d", got, thread, want)
		}
	}
	if after := size(t, file); after > before*6/10 {
		t.Errorf("the file has %d bytes, of %d", after, before)
	}
	exec(t, db, `INSERT INTO logs (thread_id) VALUES ('ours')`) // codex goes on
}

func TestTrimLeavesAlone(t *testing.T) {
	for name, c := range map[string]struct {
		rows   int
		bounds codexlog.Bounds
	}{
		"small-log": {10, codexlog.Bounds{Bytes: 1 << 20}},
		"few-rows":  {2000, codexlog.Bounds{Bytes: 1 << 20, Rows: 2000}},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			db := logOf(t, home, c.rows, "ours")
			if deleted, err := codexlog.Trim(t.Context(), home, c.bounds, are("ours")); deleted != 0 || err != nil {
				t.Errorf("Trim = %d, %v", deleted, err)
			}
			if got := count(t, db, "ours"); got != c.rows {
				t.Errorf("%d rows are left of %d", got, c.rows)
			}
		})
	}
	if deleted, err := codexlog.Trim(t.Context(), t.TempDir(), codexlog.Bounds{}, are("ours")); deleted != 0 || err != nil {
		t.Errorf("without a log: %d, %v", deleted, err)
	}
}

// TestTrimOfAnotherLog: a later codex may have another table, or no database there.
func TestTrimOfAnotherLog(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "logs_3.sqlite")
	if err := os.WriteFile(file, []byte(strings.Repeat("no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := codexlog.Trim(t.Context(), home, codexlog.Bounds{}, are("ours")); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("Trim = %v, want an error that names %s", err, file)
	}
}

func size(t *testing.T, file string) int64 {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
