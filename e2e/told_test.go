package e2e

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	_ "modernc.org/sqlite"
)

// toldBytes ends the program, and is how many bytes of events its state database has.
func (p *program) toldBytes() (n int) {
	p.t.Helper()
	p.Kill()
	db, err := sql.Open("sqlite", filepath.Join(p.State, "state.db"))
	if err != nil {
		p.t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(p.t.Context(), "SELECT coalesce(sum(length(body)), 0) FROM events").Scan(&n); err != nil {
		p.t.Fatal(err)
	}
	return n
}

// TestQuestionsOfATurnAreToldInBounds: 16 that are open at once are told with each other again and
// again, which is more than ten times what was asked.
func TestQuestionsOfATurnAreToldInBounds(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	const asked = 16
	p := start(t)
	long := strings.Repeat("x", 100<<10)
	p.Model.SetScript(func(t *fakemodel.Turn) {
		if len(t.NewToolOutputs()) > 0 {
			t.Say("done")
			return
		}
		for i := range asked {
			t.Call("exec_command", fakemodel.Escalated(fmt.Sprintf("echo %d %s", i, long)))
		}
	})
	task := p.begin("m1", "one", "go")
	follow := func() *stream { return p.stream(t.Context(), "SubscribeToTask", object{"id": task["id"]}) }
	s := follow()
	var ids []any
	for cuts := 0; len(ids) < asked; {
		event := s.next()
		if event == nil { // on a busy machine this reader of megabytes can be slow enough to be dropped
			if cuts++; cuts > 10 {
				t.Fatalf("the stream ends again and again, with %d questions", len(ids))
			}
			s = follow()
			continue
		}
		if parts := openIn(event); len(parts) > 0 {
			ids = parts
		}
	}
	for i, id := range ids {
		declines := answer(task, fmt.Sprint("a", i), object{"id": id, "decision": "decline"})
		declines["configuration"] = object{"returnImmediately": true, "historyLength": 0}
		p.call("SendMessage", declines)
	}
	if task = p.ended(task["id"]); text(task) != "done" {
		t.Errorf("the task is %.500v", task["status"])
	}
	if got := p.toldBytes(); got < 8<<20 || got > 20<<20 {
		t.Errorf("the journal has %d bytes of what was told", got)
	}
}

// openIn are the ids of the questions of an event of a stream.
func openIn(event object) (all []any) {
	parts, _ := at(event, "statusUpdate", "status", "message", "parts").([]any)
	if parts == nil {
		parts, _ = at(event, "task", "status", "message", "parts").([]any)
	}
	for _, part := range parts {
		if at(part, "data", "type") == "question" {
			all = append(all, at(part, "data", "id"))
		}
	}
	return all
}
