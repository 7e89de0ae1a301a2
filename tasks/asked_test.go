package tasks_test

import (
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// answerWith is a message to a task that has nothing but data.
func answerWith(task *a2a.Task, id string, data map[string]any) *a2a.SendMessageRequest {
	req := to(task, id, "")
	req.Message.Parts = a2a.ContentParts{a2a.NewDataPart(data)}
	req.Config.ReturnImmediately = true
	return req
}

// send sends a message and returns the task.
func send(t *testing.T, e *tasks.Engine, req *a2a.SendMessageRequest) *a2a.Task {
	t.Helper()
	res, err := e.SendMessage(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return res.(*a2a.Task)
}

// status is all the text of a task's status.
func status(task *a2a.Task) string {
	var all strings.Builder
	if task.Status.Message != nil {
		for _, p := range task.Status.Message.Parts {
			all.WriteString(p.Text())
		}
	}
	return all.String()
}

func wantStatus(t *testing.T, task *a2a.Task, state a2a.TaskState, words ...string) {
	t.Helper()
	if task.Status.State != state {
		t.Errorf("task is %s, want %s", task.Status.State, state)
	}
	for _, w := range words {
		if !strings.Contains(status(task), w) {
			t.Errorf("%q is not in the status:\n%s", w, status(task))
		}
	}
}

// TestQuestionsByID shows all that is open, and takes answers in any order.
func TestQuestionsByID(t *testing.T) {
	r := &asker{runner: newRunner()}
	e := newEngine(t, r)
	task := begin(t, e, request("m1", "c", "hi"))
	j := r.next(t).start()
	for _, id := range []string{"q1", "q2", "q3"} {
		j.observe(agent.Question{ID: id, Text: "May I " + id + "?", Accepts: "Answer yes.", Data: map[string]any{"id": id}})
	}
	task = get(t, e, task.ID)
	wantStatus(t, task, a2a.TaskStateInputRequired, "May I q1?\n\nAnswer yes.", "May I q2?", "May I q3?")
	var shown []any
	for _, p := range task.Status.Message.Parts {
		if data, ok := p.Data().(map[string]any); ok {
			shown = append(shown, data["id"])
		}
	}
	if diff := cmp.Diff([]any{"q1", "q2", "q3"}, shown); diff != "" {
		t.Error(diff)
	}
	send(t, e, answerWith(task, "m2", map[string]any{"id": "q2", "decision": "accept"}))
	wantStatus(t, get(t, e, task.ID), a2a.TaskStateInputRequired, "May I q1?", "May I q3?")
	task = send(t, e, answerWith(task, "m3", map[string]any{"id": "q2", "decision": "accept"}))
	wantStatus(t, task, a2a.TaskStateInputRequired, "No question of that id is open.", "May I q1?")
	for i, id := range []any{3.0, true, []any{"q3"}, map[string]any{}, ""} { // the id of no question
		task = send(t, e, answerWith(task, "odd"+string(rune('a'+i)), map[string]any{"id": id, "decision": "accept"}))
		wantStatus(t, task, a2a.TaskStateInputRequired, "No question of that id is open.", "May I q1?")
	}
	send(t, e, answerWith(task, "m4", map[string]any{"id": "q3", "decision": "accept"}))
	task = send(t, e, answerWith(task, "m5", map[string]any{"decision": "accept"}))
	wantStatus(t, task, a2a.TaskStateWorking)
	var order []string
	for _, a := range r.answers {
		order = append(order, a.Question)
	}
	if diff := cmp.Diff([]string{"q2", "q3", "q1"}, order); diff != "" {
		t.Errorf("answered (-want +got):\n%s", diff)
	}
	_, err := e.SendMessage(t.Context(), answerWith(task, "m6", map[string]any{"id": "q1", "decision": "accept"}))
	wantError(t, err, a2a.ErrUnsupportedOperation, "asks nothing")
	j.answer("done")
	wantTask(t, get(t, e, task.ID), a2a.TaskStateCompleted, "done")
	_, err = e.SendMessage(t.Context(), answerWith(task, "m7", map[string]any{"id": "q1", "decision": "accept"}))
	wantError(t, err, a2a.ErrUnsupportedOperation, "has ended")
}

// TestAnswerNotUnderstood is kept, and the question is posed again.
func TestAnswerNotUnderstood(t *testing.T) {
	r := &asker{runner: newRunner()}
	e := newEngine(t, r)
	task := begin(t, e, request("m1", "c", "hi"))
	j := r.next(t).start()
	j.observe(agent.Question{ID: "q1", Text: "May I?", Accepts: "Answer yes."})
	r.late = &agent.NotUnderstoodError{Why: "That is no answer."}
	for i := range 10 {
		wrong := to(task, "wrong-"+string(rune('a'+i)), "perhaps") // blocks, and the question is there again
		wantStatus(t, send(t, e, wrong), a2a.TaskStateInputRequired, "That is no answer.\n\nMay I?\n\nAnswer yes.")
	}
	r.late = nil
	right := to(task, "m2", "yes")
	right.Config.ReturnImmediately = true
	wantStatus(t, send(t, e, right), a2a.TaskStateWorking)
	j.answer("done")
	history := said(get(t, e, task.ID))
	if len(history) != 1+2*10+2 || history[1] != "May I?\n\nAnswer yes." || history[2] != "perhaps" || !strings.HasPrefix(history[3], "That is no answer.") {
		t.Errorf("history %q", history)
	}
	if r.answered() != "q1:yes" || r.count() != 1 {
		t.Errorf("answered %q, %d jobs", r.answered(), r.count())
	}
}

// TestAnswerNotUnderstoodTooLate: the question has expired over it, and is not
// posed again.
func TestAnswerNotUnderstoodTooLate(t *testing.T) {
	m, task, j := askingMachine(t, time.Time{}, "q1")
	m.asker.late = &agent.NotUnderstoodError{Why: "That is no answer."}
	m.asker.onAnswer = func() { j.observe(agent.Answered{ID: "q1", Note: "Nobody answered."}) }
	wrong := to(task, "m2", "perhaps")
	wrong.Config.ReturnImmediately = true
	wantStatus(t, send(t, m.e, wrong), a2a.TaskStateWorking)
	pending, err := m.st.Unfinished(t.Context())
	if err != nil || len(pending) != 1 || len(pending[0].Questions) != 0 {
		t.Errorf("left in the journal: %+v, %v", pending, err)
	}
	j.answer("without it")
	wantTask(t, get(t, m.e, task.ID), a2a.TaskStateCompleted, "without it")
}

// TestQuestionThatExpired says so in the stream and in the history.
func TestQuestionThatExpired(t *testing.T) {
	r := &asker{runner: newRunner()}
	e := newEngine(t, r)
	task := begin(t, e, request("m1", "c", "hi"))
	j := r.next(t).start()
	j.ask("q1", "May I?")
	next, stop := iter.Pull2(e.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: task.ID}))
	defer stop()
	next()
	j.observe(agent.Answered{ID: "q1", Note: "Nobody answered."})
	wantStatus(t, get(t, e, task.ID), a2a.TaskStateWorking)
	j.answer("without it")
	told := false
	for event, err, ok := next(); ok && err == nil; event, err, ok = next() {
		if update, ok := event.(*a2a.TaskStatusUpdateEvent); ok && update.Status.Message != nil {
			data, _ := update.Status.Message.Parts[0].Data().(map[string]any)
			told = told || data["text"] == "Nobody answered."
		}
	}
	if diff := cmp.Diff([]string{"hi", "May I?", "Nobody answered."}, said(get(t, e, task.ID))); diff != "" || !told {
		t.Errorf("told %v, history (-want +got):\n%s", told, diff)
	}
}

// TestQuestionOnABrokenDisk is in the journal as soon as that takes something
// again, unless it has been answered by then.
func TestQuestionOnABrokenDisk(t *testing.T) {
	for name, expired := range map[string]bool{"open": false, "closed": true} {
		t.Run(name, func(t *testing.T) {
			r := &asker{runner: newRunner()}
			journal := &brokenJournal{Journal: newJournal(t)}
			e := newEngine(t, r, func(c *tasks.Config) { c.Journal = journal })
			begin(t, e, request("m1", "c", "hi"))
			j := r.next(t).start()
			journal.broken.Store(true)
			j.ask("q1", "May I?")
			if expired {
				j.observe(agent.Answered{ID: "q1"})
			}
			journal.broken.Store(false)
			j.observe(tool("item-1")) // is committed at once, with all that waits
			pending, err := journal.Unfinished(t.Context())
			if err != nil || len(pending) != 1 || (len(pending[0].Questions) == 0) != expired {
				t.Errorf("pending %+v, %v", pending, err)
			}
			j.answer("done")
		})
	}
}
