package tasks_test

import (
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
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
		j.observe(executor.Asked{ID: id, Text: "May I " + id + "?", Accepts: "Answer yes.", Data: map[string]any{"id": id}})
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
	j.observe(executor.Asked{ID: "q1", Text: "May I?", Accepts: "Answer yes."})
	r.late = &executor.NotUnderstoodError{Why: "That is no answer."}
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
	m.asker.late = &executor.NotUnderstoodError{Why: "That is no answer."}
	m.asker.onAnswer = func() { j.observe(executor.Answered{ID: "q1", Note: "Nobody answered."}) }
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
	j.observe(executor.Answered{ID: "q1", Note: "Nobody answered."})
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

// askingMachine has one task whose turn waits for answers.
func askingMachine(t *testing.T, deadline time.Time, ids ...string) (*machine, *a2a.Task, *job) {
	t.Helper()
	m := newMachine(t)
	m.change = append(m.change, func(c *tasks.Config) {
		m.asker = &asker{runner: c.Runner.(*runner)}
		c.Runner = m.asker
	})
	m.restart()
	task := begin(t, m.e, request("m1", "c", "hi"))
	j := m.r.next(t).start()
	j.observe(tool("item-1"))
	for _, id := range ids {
		j.observe(executor.Asked{ID: id, Text: "May I " + id + "?", Accepts: "Answer yes.", Data: map[string]any{"id": id}, Deadline: deadline})
	}
	return m, task, j
}

// TestQuestionOverARestart stays, marked stale. Its answer makes one new turn
// that carries both.
func TestQuestionOverARestart(t *testing.T) {
	m, task, _ := askingMachine(t, time.Time{}, "q1")
	m.restart()
	m.restart() // once more: nothing of it depends on what was in memory
	task = get(t, m.e, task.ID)
	wantStatus(t, task, a2a.TaskStateInputRequired, "restarted", "May I q1?", "starts a new turn")
	data, _ := task.Status.Message.Parts[1].Data().(map[string]any)
	if data["stale"] != true || data["id"] != "q1" || task.Metadata[tasks.MetaInterrupted] != true {
		t.Errorf("data %v, metadata %v", data, task.Metadata)
	}
	if m.r.count() != 0 {
		t.Fatalf("%d jobs: the turn that asked was run again", m.r.count())
	}
	answer := to(task, "m2", "yes, do")
	ended := make(chan *a2a.Task, 1)
	go func() { ended <- send(t, m.e, answer) }() // blocks until the end
	j := m.r.next(t)
	if got := j.prompt(); !strings.Contains(got, "May I q1?") || !strings.HasSuffix(got, "yes, do") {
		t.Errorf("the new turn is given %q", got)
	}
	wantStatus(t, get(t, m.e, task.ID), a2a.TaskStateWorking)
	again := to(task, "m2", "yes, do")
	again.Config.ReturnImmediately = true
	if same := send(t, m.e, again); same.ID != task.ID || m.r.count() != 1 {
		t.Errorf("the same answer again makes %d jobs", m.r.count())
	}
	j.start().answer("done")
	wantTask(t, <-ended, a2a.TaskStateCompleted, "done")
	if history := said(get(t, m.e, task.ID)); len(history) != 3 || history[2] != "yes, do" {
		t.Errorf("history %q", history)
	}
	m.restart()
	wantTask(t, get(t, m.e, task.ID), a2a.TaskStateCompleted, "done")
}

// TestAnswerOverARestart: the answer was taken, and it is not known whether the
// turn has got it.
func TestAnswerOverARestart(t *testing.T) {
	m, task, _ := askingMachine(t, time.Time{}, "q1", "q2")
	m.restart()
	yes := to(task, "m2", "yes")
	yes.Config.ReturnImmediately = true
	send(t, m.e, yes)
	m.r.next(t)
	m.restart() // the turn had not begun
	j := m.r.next(t)
	if got := j.prompt(); !strings.Contains(got, "May I q1?") || !strings.Contains(got, "May I q2?") || !strings.HasSuffix(got, "yes") || m.r.count() != 1 {
		t.Errorf("%d jobs, one is given %q", m.r.count(), got)
	}
	j.start()
	m.restart() // it had
	j = m.r.next(t)
	if got := j.prompt(); !strings.Contains(got, "May I q1?") || j.Cut == nil || m.r.count() != 1 {
		t.Errorf("%d jobs, one is given %q", m.r.count(), got)
	}
	j.attempt(2).answer("done")
	wantTask(t, get(t, m.e, task.ID), a2a.TaskStateCompleted, "done")
}

// TestLiveAnswerOverARestart dies between the commit of an answer and its arrival.
func TestLiveAnswerOverARestart(t *testing.T) {
	m, task, _ := askingMachine(t, time.Time{}, "q1")
	yes := to(task, "m2", "yes")
	yes.Config.ReturnImmediately = true
	m.asker.onAnswer = func() { _ = m.st.Close() } // nothing is written from here on
	_, _ = m.e.SendMessage(t.Context(), yes)
	m.restart()
	j := m.r.next(t)
	if got := j.prompt(); !strings.Contains(got, "May I q1?") || !strings.HasSuffix(got, "yes") || m.r.count() != 1 {
		t.Errorf("%d jobs, one is given %q", m.r.count(), got)
	}
	j.start().answer("done")
	wantTask(t, get(t, m.e, task.ID), a2a.TaskStateCompleted, "done")
}

// TestAnsweredQuestionIsGone: once its answer has arrived, or the turn that it
// made has ended, the next process does not ask it again.
func TestAnsweredQuestionIsGone(t *testing.T) {
	m, task, _ := askingMachine(t, time.Time{}, "q1")
	yes := to(task, "m2", "yes")
	yes.Config.ReturnImmediately = true
	send(t, m.e, yes)
	m.restart()
	if j := m.r.next(t); j.prompt() != "hi" || j.Cut == nil {
		t.Errorf("after a live answer the job is of %q", j.prompt())
	}
	wantStatus(t, get(t, m.e, task.ID), a2a.TaskStateWorking)

	m, task, _ = askingMachine(t, time.Time{}, "q1")
	m.restart()
	yes = to(task, "m2", "yes")
	yes.Config.ReturnImmediately = true
	send(t, m.e, yes)
	more := to(task, "m3", "and more")
	more.Config.ReturnImmediately = true
	send(t, m.e, more)
	m.r.next(t).start().answer("done")
	m.restart()
	if j := m.r.next(t); j.prompt() != "and more" || m.r.count() != 1 {
		t.Errorf("%d jobs, one of %q", m.r.count(), j.prompt())
	}
	if state := get(t, m.e, task.ID).Status.State; state == a2a.TaskStateInputRequired {
		t.Error("an answered question is asked again")
	}
}

// TestStopKeepsTheQuestion: a stop is no answer, and no end either.
func TestStopKeepsTheQuestion(t *testing.T) {
	m, task, j := askingMachine(t, time.Time{}, "q1")
	j.end(executor.Ended{Outcome: executor.Interrupted, Tools: true, Failure: &executor.Failure{Kind: executor.FailShutdown, Message: "stopping"}})
	if err := m.e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.restart()
	wantStatus(t, get(t, m.e, task.ID), a2a.TaskStateInputRequired, "May I q1?")
	if err := m.e.Close(t.Context()); err != nil { // a stale one is not waited for
		t.Fatal(err)
	}
	m.restart()
	wantStatus(t, get(t, m.e, task.ID), a2a.TaskStateInputRequired, "May I q1?")
}

func TestStaleQuestionIsCanceled(t *testing.T) {
	m, task, _ := askingMachine(t, time.Time{}, "q1")
	m.restart()
	res, err := m.e.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: task.ID})
	if err != nil {
		t.Fatal(err)
	}
	wantTask(t, res, a2a.TaskStateCanceled, "")
	m.restart()
	wantTask(t, get(t, m.e, task.ID), a2a.TaskStateCanceled, "")
}

// TestStaleQuestionPastItsDeadline ends the task as interrupted, also where the
// deadline has passed while nothing ran.
func TestStaleQuestionPastItsDeadline(t *testing.T) {
	m, task, _ := askingMachine(t, time.Now().Add(300*time.Millisecond), "q1")
	m.restart()
	sub := listen(m.e.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: task.ID}))
	sub.wait(t)
	for range 2 {
		task = get(t, m.e, task.ID)
		wantStatus(t, task, a2a.TaskStateFailed, "CODEX_QUESTION_TTL")
		if task.Metadata[tasks.MetaInterrupted] != true {
			t.Errorf("metadata %v", task.Metadata)
		}
		m.restart()
	}
	m, task, _ = askingMachine(t, time.Now().Add(-time.Hour), "q1")
	m.restart()
	for range listen(m.e.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: task.ID})).wait(t) {
	}
	wantStatus(t, get(t, m.e, task.ID), a2a.TaskStateFailed, "CODEX_QUESTION_TTL")
}

// TestQueueBehindAStaleQuestion: what came before the restart has its turns, and
// the question is there after them.
func TestQueueBehindAStaleQuestion(t *testing.T) {
	m, task, _ := askingMachine(t, time.Time{})
	more := to(task, "m2", "and more")
	more.Config.ReturnImmediately = true
	send(t, m.e, more)
	m.r.next(t)
	m.r.jobs[0].observe(executor.Asked{ID: "q1", Text: "May I?"})
	m.restart()
	j := m.r.next(t)
	if j.prompt() != "and more" || m.r.count() != 1 {
		t.Fatalf("%d jobs, one is given %q", m.r.count(), j.prompt())
	}
	j.start().answer("more")
	wantStatus(t, get(t, m.e, task.ID), a2a.TaskStateInputRequired, "May I?")
	yes := to(task, "m3", "yes")
	yes.Config.ReturnImmediately = true
	send(t, m.e, yes)
	m.r.next(t).start().answer("done")
	wantTask(t, get(t, m.e, task.ID), a2a.TaskStateCompleted, "done")
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
				j.observe(executor.Answered{ID: "q1"})
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

// TestAnswerBesideARunningTurn: the turn of what waited before the restart runs as
// the question of another is answered.
func TestAnswerBesideARunningTurn(t *testing.T) {
	m, now := steeringMachine(t)
	task := begin(t, m.e, request("m1", "c", "hi"))
	asking := m.r.next(t)
	for _, text := range []string{"more", "last"} {
		begin(t, m.e, to(task, "m-"+text, text))
		m.r.next(t)
	}
	asking.start().observe(tool("item-1"))
	asking.ask("q1", "May I?")
	m.restart()
	more := m.r.next(t).start()
	m.r.next(t)
	answering := sent(t, m.e, to(task, "m3", "yes"))
	answer := <-now().steered
	answer.observe(executor.Steered{TurnID: "turn"})
	<-answering
	if got := answer.prompt(); !strings.Contains(got, "May I?") || !strings.HasSuffix(got, "yes") {
		t.Errorf("the turn is given %q", got)
	}
	task = get(t, m.e, task.ID)
	wantStatus(t, task, a2a.TaskStateWorking)
	if history := strings.Join(said(task), "|"); !strings.Contains(history, "May I?") || !strings.HasSuffix(history, "|yes") {
		t.Errorf("history %q", history)
	}
	more.end(completed(answer.ID))
	m.restart() // the question has its answer
	m.r.next(t).start().answer("done")
	wantTask(t, get(t, m.e, task.ID), a2a.TaskStateCompleted, "done")
}

// TestStopKeepsTheQuestionOfASteeredTurn, and what that turn has taken.
func TestStopKeepsTheQuestionOfASteeredTurn(t *testing.T) {
	m, now := steeringMachine(t)
	task := begin(t, m.e, request("m1", "c", "hi"))
	j := m.r.next(t).start()
	j.observe(tool("item-1"))
	sending := sent(t, m.e, to(task, "m2", "two"))
	two := <-now().steered
	if err := m.r.book.Begin(t.Context(), executor.Attempt{Job: two.ID, N: 1, Conversation: "c", Thread: "thread"}); err != nil {
		t.Fatal(err)
	}
	two.observe(executor.Steered{TurnID: "turn"})
	<-sending
	j.ask("q1", "May I?")
	stopped := executor.Ended{Outcome: executor.Interrupted, Tools: true, Failure: &executor.Failure{Kind: executor.FailShutdown, Message: "stopping"}}
	taking := stopped
	taking.Taken = []string{two.ID}
	j.end(taking)
	two.end(stopped)
	if err := m.e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.restart()
	wantStatus(t, get(t, m.e, task.ID), a2a.TaskStateInputRequired, "May I?")
	if again := m.r.next(t); again.ID != two.ID || again.Cut == nil {
		t.Errorf("the job is %+v, want what was steered", again.Job)
	}
}
