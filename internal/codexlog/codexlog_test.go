package codexlog_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the driver

	"github.com/Molecule-AI/molecule-codex-runtime/internal/codexlog"
)

// logOf makes a log as codex 0.169.0 does, with so many rows for each thread, one thread
// after the other; an empty name is no thread.
func logOf(t *testing.T, home string, each int, threads ...string) *sql.DB {
	t.Helper()
	db := open(t, filepath.Join(home, "logs_2.sqlite"))
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

func open(t *testing.T, file string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
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

// trimmer cuts the log of a home short in a process of its own.
func trimmer(t *testing.T, home string, b codexlog.Bounds, threads ...string) *codexlog.Trimmer {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &codexlog.Trimmer{
		Home: home, Bounds: b, Threads: func(context.Context) ([]string, error) { return threads, nil },
		Program: program, Args: []string{trimming},
	}
}

// TestTrim: the oldest rows of our threads go, and the file becomes smaller, while codex
// has it open. Those of others stay.
func TestTrim(t *testing.T) {
	home := t.TempDir()
	db := logOf(t, home, 3000, "mine", "theirs", "", "ours")
	exec(t, db, `PRAGMA wal_checkpoint(TRUNCATE)`)
	file := filepath.Join(home, "logs_2.sqlite")
	before := size(t, file)
	deleted, err := trimmer(t, home, codexlog.Bounds{Bytes: 1 << 20, Rows: 100}, "ours", "mine", "gone").Trim(t.Context())
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
			if deleted, err := trimmer(t, home, c.bounds, "ours").Trim(t.Context()); deleted != 0 || err != nil {
				t.Errorf("Trim = %d, %v", deleted, err)
			}
			if got := count(t, db, "ours"); got != c.rows {
				t.Errorf("%d rows are left of %d", got, c.rows)
			}
		})
	}
	for name, home := range map[string]string{"log": t.TempDir(), "home": filepath.Join(t.TempDir(), "none")} {
		if deleted, err := trimmer(t, home, codexlog.Bounds{}, "ours").Trim(t.Context()); deleted != 0 || err != nil {
			t.Errorf("without a %s: %d, %v", name, deleted, err)
		}
	}
}

// TestTrimOfAnotherLog: a later codex may have another table, or no database there, and
// what others have put there is not run.
func TestTrimOfAnotherLog(t *testing.T) {
	const table = `CREATE TABLE logs (id INTEGER PRIMARY KEY, thread_id TEXT); `
	for name, c := range map[string]struct{ schema, want string }{
		"no-database": {"", "not a database"},
		"no-table":    {`CREATE TABLE log (x)`, "no such table: logs"},
		"view":        {`CREATE VIEW Logs AS SELECT 1 AS id, 'ours' AS thread_id`, "it has the view Logs"},
		"virtual":     {`CREATE VIRTUAL TABLE logs USING fts5(thread_id)`, "it has the table logs"},
		"trigger":     {table + `CREATE TRIGGER gone AFTER DELETE ON logs BEGIN SELECT 1; END`, "it has the trigger gone"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			file := filepath.Join(home, "logs_3.sqlite")
			if c.schema == "" {
				if err := os.WriteFile(file, []byte(strings.Repeat("no database\n", 100)), 0o600); err != nil {
					t.Fatal(err)
				}
			} else {
				db := open(t, file)
				exec(t, db, c.schema)
			}
			_, err := trimmer(t, home, codexlog.Bounds{}, "ours").Trim(t.Context())
			if err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Trim = %v, want an error that names %s and says %q", err, file, c.want)
			}
		})
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
