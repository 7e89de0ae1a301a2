package e2e

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// plantedLog puts a log into codex's home, as a command does that owns it.
func plantedLog(t *testing.T, p *program, schema string) (path string) {
	t.Helper()
	path = filepath.Join(p.Home, "logs_9.sqlite")
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), schema); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 65<<20); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, commandUser, commandUser); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLogThatCommandsHaveMade: a database of codex's home is a program that its owner has
// written. It takes neither this process's memory nor its time, and its end waits for
// nothing there.
func TestLogThatCommandsHaveMade(t *testing.T) {
	longtest.Mark(t)
	t.Run("memory", func(t *testing.T) {
		p := startAsTwo(t)
		p.Stop()
		plantedLog(t, p, `CREATE TABLE logs (id INTEGER PRIMARY KEY); INSERT INTO logs VALUES (1), (2), (100000);
			ALTER TABLE logs ADD COLUMN thread_id TEXT AS (`+strings.Repeat("length(replace(hex(zeroblob(200000000 + id)), '0', 'y')) + ", 8)+`0)`)
		p.again()
		progtest.WaitFor(t, "the log to be given up", func() bool { return strings.Contains(p.Log(), "out of memory") })
		if peak := progtest.PeakMemory(t, p.Pid()); peak > 150<<20 {
			t.Errorf("the runtime has had %d MiB", peak>>20)
		}
	})
	t.Run("pipe", func(t *testing.T) {
		p := startAsTwo(t)
		p.Stop()
		pipe := plantedLog(t, p, `CREATE TABLE logs (id INTEGER PRIMARY KEY, thread_id TEXT)`) + "-journal"
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(pipe, commandUser, commandUser); err != nil {
			t.Fatal(err)
		}
		p.again()
		progtest.WaitFor(t, "the pipe to be opened", func() bool { return waitsAtPipe(append(progtest.Descendants(p.Pid()), p.Pid())) })
		p.Signal(syscall.SIGTERM)
		p.ExitCode()
	})
}

// waitsAtPipe reports whether a thread of one of the processes waits for the other end of
// a pipe.
func waitsAtPipe(pids []int) bool {
	for _, pid := range pids {
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/wchan", pid))
		for _, file := range files {
			if where, _ := os.ReadFile(file); strings.Contains(string(where), "wait_for_partner") {
				return true
			}
		}
	}
	return false
}
