package e2e

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // codex's log is looked into

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// threadOf is the only thread that codex has in its home, by the name of its file.
func threadOf(t *testing.T, home string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(home, "sessions", "*", "*", "*", "rollout-*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v: want the file of one thread", files, err)
	}
	const id = len("01a1fdb0-fdfb-7181-b145-979588c98a06")
	name := strings.TrimSuffix(filepath.Base(files[0]), ".jsonl")
	return name[len(name)-id:]
}

// largeLog puts a log into the home of codex that is newer than codex's own, and too large,
// with rows of a thread of ours and of another's.
func largeLog(t *testing.T, home string) (left func(thread string) int, ours string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(home, "logs_9.sqlite")+"?_pragma=busy_timeout(5000)&_pragma=synchronous(off)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	ours = threadOf(t, home)
	for _, query := range []string{
		`CREATE TABLE logs (id INTEGER PRIMARY KEY AUTOINCREMENT, thread_id TEXT, feedback_log_body TEXT)`,
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 11000)
			INSERT INTO logs (thread_id, feedback_log_body) SELECT iif(i % 2, '` + ours + `', 'another'), zeroblob(7000) FROM n`,
	} {
		if _, err := db.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	return func(thread string) (n int) {
		t.Helper()
		if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM logs WHERE thread_id = ?`, thread).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}, ours
}

// TestCodexLogIsCutShort by both ways to run: what is old and of their own threads goes,
// and what another codex on this home has written stays.
func TestCodexLogIsCutShort(t *testing.T) {
	t.Parallel()
	served := func(t *testing.T) *program {
		p := start(t)
		if task := p.send("m", "one", "say hello"); state(task) != "TASK_STATE_COMPLETED" {
			t.Fatalf("%v", task)
		}
		return p
	}
	polled := func(t *testing.T) *program {
		x := poll(t)
		x.say("say hello")
		x.told(1)
		return x.program
	}
	for name, run := range map[string]func(*testing.T) *program{"serve": served, "channel": polled} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := run(t)
			p.Stop()
			left, ours := largeLog(t, p.Home)
			p.again()
			progtest.WaitFor(t, "the log to be cut short", func() bool { return left(ours) == 5000 })
			if n := left("another"); n != 5500 {
				t.Errorf("%d rows of another thread are left, want all 5500", n)
			}
		})
	}
}
