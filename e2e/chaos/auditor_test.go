package chaos

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestAuditor cooks the books in every way and expects the auditor to notice.
func TestAuditor(t *testing.T) {
	first := &Message{ID: "m0-1-000001", Context: "one", N: 1, Pieces: 1}
	second := &Message{ID: "m0-2-000002", Context: "one", N: 2, Command: true}
	done := Ending{State: "completed", Text: first.Answer()}
	for name, cook := range map[string]struct {
		how    func(t *testing.T, a *auditor)
		faults int
	}{
		"nothing-wrong": {func(t *testing.T, a *auditor) {
			a.ledger.ask(first.ID)
			a.ledger.answered(first.ID)
			a.ledger.ended("a client", "t1", done)
			a.ledger.ended("another", "t1", done)
			a.count(a.ledger.entries[first.ID], done, false)
			a.sightings(a.ledger.entries[first.ID], 1)
		}, 0},
		"order": {func(t *testing.T, a *auditor) {
			a.ledger.ask(second.ID)
			a.ledger.ask(first.ID)
		}, 1},
		"unknown-words": {func(t *testing.T, a *auditor) {
			if m, _ := a.ledger.ask("m9-9-999999"); m == nil {
				a.ledger.fault("the script says this")
			}
		}, 1},
		"two-ends": {func(t *testing.T, a *auditor) { a.ledger.ended("a", "t1", done); a.ledger.ended("b", "t1", Ending{}) }, 1},
		"wrong-answer": {func(t *testing.T, a *auditor) {
			a.count(&Entry{Message: first, said: 1}, Ending{State: "completed", Text: "x"}, false)
		}, 1},
		"never-said":  {func(t *testing.T, a *auditor) { a.count(&Entry{Message: first}, done, false) }, 1},
		"never-given": {func(t *testing.T, a *auditor) { a.count(&Entry{Message: first}, done, true) }, 1},
		"unexplained": {func(t *testing.T, a *auditor) {
			a.count(&Entry{Message: first}, Ending{State: "failed", Kind: "unreachable"}, false)
		}, 1},
		"not-asked-to": {func(t *testing.T, a *auditor) { a.count(&Entry{Message: first}, Ending{State: "canceled"}, false) }, 1},
		"thrice":       {func(t *testing.T, a *auditor) { a.sightings(&Entry{Message: first, asked: 3}, 1) }, 1},
		"thrice-for-cuts": {func(t *testing.T, a *auditor) {
			for range 3 {
				a.ledger.ask(first.ID)
				a.ledger.cuts()
			}
			a.sightings(a.ledger.entries[first.ID], 1)
		}, 0},
		"twice-uncut": {func(t *testing.T, a *auditor) {
			a.cuts = true
			a.sightings(&Entry{Message: first, asked: 2}, 1)
		}, 1},
		"interrupted-by-cuts": {func(t *testing.T, a *auditor) {
			a.cuts = true
			a.count(&Entry{Message: second}, Ending{State: "failed", Interrupted: true, Attempt: 2}, false)
		}, 1},
		"failed-of-cuts": {func(t *testing.T, a *auditor) {
			a.count(&Entry{Message: &Message{ID: "m0-3-000003", Fault: drops}}, Ending{State: "failed", Kind: "model"}, true)
		}, 1},
		"failed-with-another": {func(t *testing.T, a *auditor) {
			failing := &Message{ID: "m0-3-000003", Fault: fails}
			a.ledger.open(failing)
			a.ledger.isTask(failing, "t1")
			a.ledger.isTask(first, "t1")
			a.count(a.ledger.entries[first.ID], Ending{State: "failed", Kind: "model"}, true)
		}, 0},
		"refused-yet": {func(t *testing.T, a *auditor) { a.refused(&Entry{Message: first, asked: 1}) }, 1},
		"ran-twice":   {func(t *testing.T, a *auditor) { write(t, a.file, second.ID+"\n"+second.ID+"\n") }, 1},
		"never-ran": {func(t *testing.T, a *auditor) {
			a.ledger.isTask(second, "t2")
			a.ledger.ended("a client", "t2", Ending{State: "completed"})
		}, 1},
		"file": {func(t *testing.T, a *auditor) {
			write(t, filepath.Join(filepath.Dir(a.file), "temporary"), "")
			a.files(filepath.Dir(a.file), "lines")
		}, 1},
		"process": {func(t *testing.T, a *auditor) {
			left := exec.Command("sleep", "60")
			left.Env = []string{"PATH=" + os.Getenv("PATH"), "CHAOS_RUN=auditor"}
			if err := left.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = left.Process.Kill(); _ = left.Wait() }()
			progtest.WaitFor(t, "the process to show its environment", func() bool {
				environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", left.Process.Pid))
				return bytes.Contains(environ, []byte("CHAOS_RUN=auditor"))
			})
			a.processes("CHAOS_RUN=auditor")
		}, 1},
		"database": {func(t *testing.T, a *auditor) {
			a.shared["t1"] = false
			a.books(t.Context(), t.TempDir())
		}, 1},
		"gap": {func(t *testing.T, a *auditor) {
			r := reader{texts: map[string]string{"a": "one three"}}
			if what := r.differs(object{"artifacts": []any{object{"artifactId": "a", "parts": []any{object{"text": "one two three"}}}}}); what != "" {
				a.ledger.fault("%s", what)
			}
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			l := &load{ledger: newLedger(), file: filepath.Join(t.TempDir(), "lines")}
			l.ledger.open(first)
			l.ledger.open(second)
			a := newAuditor(l)
			a.chain[second.ID] = 1
			cook.how(t, a)
			a.order()
			a.lines()
			if n := len(l.ledger.faults); n != cook.faults {
				t.Errorf("%d faults found, want %d: %q", n, cook.faults, l.ledger.faults)
			}
		})
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
