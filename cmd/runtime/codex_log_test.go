package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// largeLog makes a log of codex that is larger than the bounds, with more rows of a thread
// than are kept.
func largeLog(t *testing.T, home, thread string) (rows func() int) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(home, "logs_2.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
			t.Fatal(err)
		}
	}
	b := logBounds()
	exec(`PRAGMA synchronous = OFF`)
	exec(`CREATE TABLE logs (id INTEGER PRIMARY KEY AUTOINCREMENT, thread_id TEXT, feedback_log_body TEXT)`)
	exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
		INSERT INTO logs (thread_id, feedback_log_body) SELECT ?1, zeroblob(?3) FROM n`, thread, b.Rows+100, b.Bytes/b.Rows)
	return func() (n int) {
		t.Helper()
		if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM logs`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
}

// TestTrimLog looks at the log at once and each minute, says once that it fails, and ends
// with its context.
func TestTrimLog(t *testing.T) {
	home, keep := t.TempDir(), int(logBounds().Rows)
	rows := largeLog(t, home, "ours")
	all := rows()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var said bytes.Buffer
		var asked atomic.Int32 // time alone brings the next round, and tells the race detector of no order
		threads := func(context.Context) ([]string, error) {
			if asked.Add(1) < 3 {
				return nil, errors.New("the state is busy")
			}
			return []string{"ours"}, nil
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			trimLog(ctx, codexHome{dir: home}, threads, slog.New(slog.NewTextHandler(&said, nil)))
		}()
		for i := 1; i <= 3; i++ {
			synctest.Wait()
			if n := int(asked.Load()); n != i {
				t.Fatalf("asked %d times for threads, want %d", n, i)
			}
			if n := strings.Count(said.String(), "the state is busy"); n != 1 {
				t.Errorf("after %d rounds the failure was said %d times: %s", i, n, &said)
			}
			if i < 3 {
				if n := rows(); n != all {
					t.Errorf("%d rows are left of %d without a thread that is known to be ours", n, all)
				}
				time.Sleep(trimEvery)
			}
		}
		if n := rows(); n != keep {
			t.Errorf("%d rows are left, want %d", n, keep)
		}
		stop()
		<-ended
	})
}
