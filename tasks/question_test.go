package tasks_test

import (
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// An asker is a runner whose turns can ask.
type asker struct {
	*runner

	mu      sync.Mutex // guards the fields below
	answers []agent.Answer
	late    error // what Answer returns
	keeps   bool  // answers do not reach their turns yet, which have no slot

	onAnswer func() // called before that; may be nil
}

func (a *asker) Answer(id string, answer agent.Answer) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.onAnswer != nil {
		a.onAnswer()
	}
	if a.late != nil {
		return a.late
	}
	a.answers = append(a.answers, answer)
	if !a.keeps {
		a.reached(id, answer.Question)
	}
	return nil
}

// reached says that the turn of a job has got the answer to a question.
func (a *asker) reached(id, question string) {
	a.runner.mu.Lock()
	i := slices.IndexFunc(a.jobs, func(other *job) bool { return other.ID == id })
	j := a.jobs[i]
	a.runner.mu.Unlock()
	j.observe(agent.Answered{ID: question})
}

// answered renders what was answered: the question, the text, the data.
func (a *asker) answered() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []string
	for _, answer := range a.answers {
		line := answer.Question + ":" + answer.Input[0].Text
		if answer.Data != nil {
			line += " with data"
		}
		out = append(out, line)
	}
	return strings.Join(out, ", ")
}

func (j *job) ask(id, text string) { j.observe(agent.Question{ID: id, Text: text}) }

// to is a message to a task.
func to(task *a2a.Task, id, text string) *a2a.SendMessageRequest {
	req := request(id, "", text)
	req.Message.TaskID = task.ID
	return req
}

// wantTask checks the state of a task, and what it says: in its status, or where it is
// completed in its last artifact, and only there.
func wantTask(t testing.TB, task *a2a.Task, state a2a.TaskState, says string) {
	t.Helper()
	got := ""
	if m := task.Status.Message; m != nil {
		got = m.Parts[0].Text()
	}
	if n := len(task.Artifacts); state == a2a.TaskStateCompleted && n > 0 {
		got += task.Artifacts[n-1].Parts[0].Text()
	}
	if task.Status.State != state || got != says {
		t.Errorf("task is %s with %q, want %s with %q", task.Status.State, got, state, says)
	}
}

// said is the text of the first part of each message of the history.
func said(task *a2a.Task) []string {
	var out []string
	for _, m := range task.History {
		out = append(out, m.Parts[0].Text())
	}
	return out
}

func TestQuestion(t *testing.T) {
	r := &asker{runner: newRunner()}
	e := newEngine(t, r)
	sender := listen(e.SendStreamingMessage(t.Context(), request("m1", "c", "hi")))
	j := r.next(t).start()
	j.say("a", "half of it")
	j.observe(agent.Question{ID: "q1", Text: "May I?", Data: map[string]any{"options": []any{"yes", "no"}}})
	events := sender.wait(t) // ends with the question
	if got, want := showAll(events), "task submitted\nstatus working\nnew a \"half of i\"\nadd a \"t\"\nstatus input_required"; got != want {
		t.Fatalf("the sender's stream:\n%s\nwant\n%s", got, want)
	}
	task := get(t, e, events[0].(*a2a.Task).ID)
	wantTask(t, task, a2a.TaskStateInputRequired, "May I?")
	if diff := cmp.Diff(map[string]any{"options": []any{"yes", "no"}}, task.Status.Message.Parts[1].Data()); diff != "" {
		t.Error(diff)
	}
	next, stop := iter.Pull2(e.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: task.ID}))
	defer stop()
	if event, _, _ := next(); show(event) != `task input_required a="half of it"` {
		t.Errorf("a subscriber begins with %s", show(event))
	}

	reply := to(task, "m2", "yes")
	reply.Message.Parts = append(reply.Message.Parts, a2a.NewDataPart(map[string]any{"decision": "accept"}))
	reply.Config.ReturnImmediately = true
	res, err := e.SendMessage(t.Context(), reply)
	if err != nil {
		t.Fatal(err)
	}
	wantTask(t, res.(*a2a.Task), a2a.TaskStateWorking, "")
	again, err := e.SendMessage(t.Context(), reply) // is the same answer
	if err != nil || again.(*a2a.Task).ID != task.ID {
		t.Errorf("sent again: %v, %v", again, err)
	}
	if got := r.answered(); got != "q1:yes with data" || r.count() != 1 {
		t.Errorf("answers %q, %d jobs", got, r.count())
	}
	j.observe(agent.Answered{ID: "q1"}) // it knows that already
	j.answer("done")
	task = get(t, e, task.ID)
	wantTask(t, task, a2a.TaskStateCompleted, "done")
	if diff := cmp.Diff([]string{"hi", "May I?", "yes"}, said(task)); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	var last string
	for event, err, ok := next(); ok; event, err, ok = next() {
		if err != nil {
			t.Fatal(err)
		}
		last = show(event)
	}
	if last != "status completed" {
		t.Errorf("the subscriber's stream ends with %s", last)
	}
}

func TestQuestionsAreAnsweredInTheirOrder(t *testing.T) {
	r := &asker{runner: newRunner()}
	e := newEngine(t, r)
	task := begin(t, e, request("m1", "c", "hi"))
	j := r.next(t).start()
	j.ask("q1", "first?")
	j.ask("q2", "second?")
	j.ask("q3", "third?")
	j.ask("q4", "")
	wantTask(t, get(t, e, task.ID), a2a.TaskStateInputRequired, "first?")
	res, err := e.SendMessage(t.Context(), to(task, "m2", "one")) // blocks, and there is the next question
	if err != nil {
		t.Fatal(err)
	}
	wantTask(t, res.(*a2a.Task), a2a.TaskStateInputRequired, "second?")
	stream := listen(e.SendStreamingMessage(t.Context(), to(task, "m3", "two")))
	if got := showAll(stream.wait(t)); got != "task input_required" {
		t.Errorf("stream of an answer:\n%s", got)
	}
	j.observe(agent.Answered{ID: "q3"}) // expired, say
	wantTask(t, get(t, e, task.ID), a2a.TaskStateInputRequired, "codex is waiting for an answer")
	j.observe(agent.Answered{ID: "q4"})
	wantTask(t, get(t, e, task.ID), a2a.TaskStateWorking, "")
	if got := r.answered(); got != "q1:one, q2:two" {
		t.Errorf("answers %q", got)
	}
	want := []string{"hi", "first?", "one", "second?", "two", "third?", "codex is waiting for an answer"}
	if diff := cmp.Diff(want, said(get(t, e, task.ID))); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	j.answer("done")
}

// TestAnswerTooLate: nobody waits for it any more, so it becomes a turn.
func TestAnswerTooLate(t *testing.T) {
	r := &asker{runner: newRunner(), late: errors.New("the question has expired")}
	e := newEngine(t, r)
	task := begin(t, e, request("m1", "c", "hi"))
	first := r.next(t).start()
	first.ask("q1", "May I?")
	late := to(task, "m2", "yes")
	late.Config.ReturnImmediately = true
	if _, err := e.SendMessage(t.Context(), late); err != nil {
		t.Fatal(err)
	}
	second := r.next(t)
	if second.prompt() != "yes" {
		t.Errorf("the second turn is of %q", second.prompt())
	}
	first.answer("without it")
	second.start().answer("with it")
	task = get(t, e, task.ID)
	wantTask(t, task, a2a.TaskStateCompleted, "with it")
	if diff := cmp.Diff([]string{"hi", "May I?", "yes"}, said(task)); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

// TestRunnerThatTakesNoAnswers: a message to a task that asks is a turn like any
// other, and what it would have answered is not open any more.
func TestRunnerThatTakesNoAnswers(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	task := begin(t, e, request("m1", "c", "hi"))
	first := r.next(t).start()
	first.ask("q1", "May I?")
	next := to(task, "m2", "yes")
	next.Config.ReturnImmediately = true
	if _, err := e.SendMessage(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	second := r.next(t)
	wantTask(t, get(t, e, task.ID), a2a.TaskStateWorking, "")
	first.ask("q2", "And now?")
	wantTask(t, get(t, e, task.ID), a2a.TaskStateInputRequired, "And now?")
	first.answer("gave up") // its question goes with it
	wantTask(t, get(t, e, task.ID), a2a.TaskStateWorking, "")
	second.start().answer("done")
	wantTask(t, get(t, e, task.ID), a2a.TaskStateCompleted, "done")
}

func TestCancelOfATaskThatAsks(t *testing.T) {
	r := &asker{runner: newRunner()}
	e := newEngine(t, r)
	task := begin(t, e, request("m1", "c", "hi"))
	r.next(t).start().ask("q1", "May I?")
	res, err := e.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: task.ID})
	if err != nil {
		t.Fatal(err)
	}
	wantTask(t, res, a2a.TaskStateCanceled, "")
	if diff := cmp.Diff([]string{"hi", "May I?"}, said(res)); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	_, err = e.SendMessage(t.Context(), to(task, "m2", "yes"))
	wantError(t, err, a2a.ErrUnsupportedOperation, "has ended")
}

// TestAnswerThatCannotBeStored is not given, and the question stays open.
func TestAnswerThatCannotBeStored(t *testing.T) {
	r := &asker{runner: newRunner()}
	journal := &brokenJournal{Journal: newJournal(t)}
	e := newEngine(t, r, func(c *tasks.Config) { c.Journal = journal })
	task := begin(t, e, request("m1", "c", "hi"))
	j := r.next(t).start()
	j.ask("q1", "May I?")
	journal.broken.Store(true)
	_, err := e.SendMessage(t.Context(), to(task, "m2", "yes"))
	wantError(t, err, a2a.ErrInternalError, "could not store")
	journal.broken.Store(false)
	task = get(t, e, task.ID)
	wantTask(t, task, a2a.TaskStateInputRequired, "May I?")
	if len(task.History) != 1 || r.answered() != "" {
		t.Errorf("history %q, answers %q", said(task), r.answered())
	}
	answer := to(task, "m2", "yes")
	answer.Config.ReturnImmediately = true
	if _, err = e.SendMessage(t.Context(), answer); err != nil || r.answered() != "q1:yes" {
		t.Errorf("%v, answers %q", err, r.answered())
	}
	j.answer("done")
}
