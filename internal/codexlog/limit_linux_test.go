//go:build linux && !race

package codexlog_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/codexlog"
)

// TestTrimTakesLittle: a table, too, says what is to be computed.
func TestTrimTakesLittle(t *testing.T) {
	home := t.TempDir()
	db := open(t, filepath.Join(home, "logs_2.sqlite"))
	exec(t, db, `CREATE TABLE logs (id INTEGER PRIMARY KEY)`)
	exec(t, db, `INSERT INTO logs VALUES (1), (2)`)
	exec(t, db, `ALTER TABLE logs ADD COLUMN thread_id TEXT AS (replace(hex(zeroblob(200000000 + id)), '0', 'y'))`)
	_, err := trimmer(t, home, codexlog.Bounds{}, "ours").Trim(t.Context())
	if err == nil || !strings.Contains(err.Error(), "out of memory") {
		t.Errorf("Trim = %v", err)
	}
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &used); err != nil || used.Maxrss > 350<<10 { // codex is among them
		t.Errorf("the largest process has had %d KiB, %v", used.Maxrss, err)
	}
}
