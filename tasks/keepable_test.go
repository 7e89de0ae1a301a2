package tasks_test

import (
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/attach"
)

// TestWhatCannotBeReadAgain is not taken, by whichever door it comes.
func TestWhatCannotBeReadAgain(t *testing.T) {
	e := newEngine(t, newRunner())
	for name, m := range map[string]*a2a.Message{
		"no data":         {Parts: a2a.ContentParts{a2a.NewTextPart("x"), a2a.NewDataPart(nil)}},
		"no bytes":        {Parts: a2a.ContentParts{a2a.NewTextPart("x"), a2a.NewRawPart(nil)}},
		"no URL":          {Parts: a2a.ContentParts{a2a.NewTextPart("x"), a2a.NewFileURLPart("", "text/plain")}},
		"no part":         {Parts: a2a.ContentParts{a2a.NewTextPart("x"), nil}},
		"no content":      {Parts: a2a.ContentParts{a2a.NewTextPart("x"), {}}},
		"data of no JSON": {Parts: a2a.ContentParts{a2a.NewTextPart("x"), a2a.NewDataPart(map[string]any{"a": math.NaN()})}},
		"part's metadata": {Parts: a2a.ContentParts{{Content: a2a.Text("x"), Metadata: map[string]any{"a": math.Inf(1)}}}},
		"metadata":        {Parts: a2a.ContentParts{a2a.NewTextPart("x")}, Metadata: map[string]any{"a": math.NaN()}},
	} {
		m.ID, m.Role = "m "+name, a2a.MessageRoleUser
		if _, err := e.SendMessage(t.Context(), &a2a.SendMessageRequest{Message: m}); !errors.Is(err, a2a.ErrInvalidParams) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// poison writes tasks as they may stand in a database of an earlier version, or on a disk
// that has lost something.
func poison(t *testing.T, s *store.Store) {
	t.Helper()
	const (
		good  = `{"messageId":"m","role":"ROLE_USER","parts":[{"text":"begins well"}]}`
		null  = `{"messageId":"m","role":"ROLE_USER","parts":[{"text":"begins well"},{"data":null},{"filename":"f"}]}`
		ended = `{"status":{"state":"TASK_STATE_COMPLETED"}}`
	)
	for i, row := range []struct{ id, head, history, artifact string }{
		{"t-null", ended, null, ""}, {"t-history", ended, `{"parts":7}`, ""}, {"t-head", `{"status":`, good, ""},
		{"t-artifact", ended, good, `{"artifactId":"a","parts":[{"raw":null}]}`}, {"t-lost", "", "", "\x00"}, {"t-good", ended, good, ""},
	} {
		head := store.Head{
			ID: row.id, Context: "c", State: string(a2a.TaskStateCompleted), At: time.Unix(int64(1000-i), 0), Ended: true, Body: []byte(row.head),
		}
		m := store.Message{Key: store.Key{Message: "m-" + row.id}, TaskID: row.id, Job: row.id + ".1", Body: []byte(row.history)}
		if err := s.Accept(t.Context(), m, head); err != nil {
			t.Fatal(err)
		}
		change := store.Change{Task: row.id, Head: &head, Ended: []string{m.Job}}
		if row.artifact != "" {
			change.Artifacts = [][]byte{[]byte(row.artifact)}
		}
		if err := s.Write(t.Context(), change); err != nil {
			t.Fatal(err)
		}
	}
}

// TestListsGoOn over what cannot be read: it has a word in its place, on whichever page, and
// the log has one line for it.
func TestListsGoOn(t *testing.T) {
	journal, log := newJournal(t), &strings.Builder{}
	poison(t, journal)
	e := newEngine(t, newRunner(), func(c *tasks.Config) { c.Journal, c.Logger = journal, slog.New(slog.NewTextHandler(log, nil)) })
	var ids []string
	for token := ""; ; {
		page, err := e.ListTasks(t.Context(), &a2a.ListTasksRequest{PageSize: 2, PageToken: token, IncludeArtifacts: true})
		if err != nil || page.TotalSize != 6 {
			t.Fatalf("%+v, %v", page, err)
		}
		for _, task := range page.Tasks {
			ids = append(ids, string(task.ID))
			if task.Status.State != a2a.TaskStateCompleted {
				t.Errorf("task %s is %s", task.ID, task.Status.State)
			}
			if _, err := e.GetTask(t.Context(), &a2a.GetTaskRequest{ID: task.ID}); err != nil {
				t.Errorf("task %s: %v", task.ID, err)
			}
		}
		if token = page.NextPageToken; token == "" {
			break
		}
	}
	if got := strings.Join(ids, " "); got != "t-null t-history t-head t-artifact t-lost t-good" {
		t.Errorf("the list is %s", got)
	}
	briefs, err := e.Newest(t.Context(), 10)
	if err != nil || len(briefs) != 6 || briefs[0].Title != "begins well" {
		t.Errorf("%+v, %v", briefs, err)
	}
	for id, lines := range map[string]int{"t-null": 1, "t-history": 1, "t-head": 1, "t-artifact": 1, "t-lost": 1, "t-good": 0} {
		if n := strings.Count(log.String(), "task_id="+id+" "); n != lines {
			t.Errorf("the log has %d lines on %s:\n%s", n, id, log)
		}
	}
	null, err := e.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t-null"})
	if err != nil || len(null.History[0].Parts) != 3 || null.History[0].Parts[1].Text() != "null" || null.History[0].Parts[2].Text() == "" {
		t.Errorf("%+v, %v", null, err)
	}
}

// TestPoisonedTaskGoesOn: a message of an earlier version that cannot be read as it is
// keeps the others of its task from nothing, over a restart.
func TestPoisonedTaskGoesOn(t *testing.T) {
	journal := newJournal(t)
	head := store.Head{ID: "t", Context: "c", Conversation: "c", State: string(a2a.TaskStateWorking), At: time.Unix(1000, 0), Body: []byte(`{"status":{"state":"TASK_STATE_WORKING"},"turns":2}`)}
	for i, body := range []string{
		`{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"poison"},{"data":null}]}`, `{"messageId":"m2","role":"ROLE_USER","parts":[{"text":"theirs"}]}`,
	} {
		m := store.Message{Key: store.Key{Message: "m" + string(rune('1'+i)), Task: "t"}, TaskID: "t", Job: "t." + string(rune('1'+i)), Conversation: "c", Body: []byte(body)}
		if err := journal.Accept(t.Context(), m, head); err != nil {
			t.Fatal(err)
		}
	}
	r := newRunner()
	e := newEngine(t, r, func(c *tasks.Config) { c.Journal = journal })
	if err := e.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"poison\nnull", "theirs"} {
		j := r.next(t)
		if got := j.prompt(); got != want {
			t.Errorf("codex is told %q, want %q", got, want)
		}
		j.start().end(agent.Ended{Outcome: agent.Completed, Messages: []agent.Message{{ItemID: "m", Text: "done"}}})
	}
	task, err := e.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t"})
	if err != nil || task.Status.State != a2a.TaskStateCompleted {
		t.Errorf("%+v, %v", task, err)
	}
}

// TestKeptIsOurs: a file of a caller does not say where a copy of ours is.
func TestKeptIsOurs(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	req := request("m1", "c", "look")
	file := a2a.NewFileURLPart("https://example.com/a", "text/plain")
	file.Metadata = map[string]any{"kept": "../console", "own": true}
	req.Message.Parts = append(req.Message.Parts, file)
	task, err := e.GetTask(t.Context(), &a2a.GetTaskRequest{ID: begin(t, e, req).ID})
	if err != nil {
		t.Fatal(err)
	}
	got := task.History[0].Parts[1]
	if _, kept := attach.KeptOf(got); kept || got.Metadata["own"] != true || file.Metadata["kept"] == nil {
		t.Errorf("kept as %+v, given as %+v", got, file)
	}
}

// TestListSinceFarYears: the years that a caller may name are more than nanoseconds have.
func TestListSinceFarYears(t *testing.T) {
	journal := newJournal(t)
	poison(t, journal)
	e := newEngine(t, newRunner(), func(c *tasks.Config) { c.Journal = journal })
	for year, want := range map[int]int{1: 6, 1500: 6, 1971: 0, 2300: 0, 9999: 0} {
		since := time.Date(year, 12, 31, 0, 0, 0, 0, time.UTC)
		page, err := e.ListTasks(t.Context(), &a2a.ListTasksRequest{StatusTimestampAfter: &since})
		if err != nil || page.TotalSize != want || len(page.Tasks) != want {
			t.Errorf("since %d: %+v, %v; want %d", year, page, err, want)
		}
	}
}
