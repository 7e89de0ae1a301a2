package tasks_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
)

// A machine is a state directory, on which one engine runs after the other.
type machine struct {
	t   testing.TB
	dir string
	st  *store.Store
	e   *tasks.Engine
	r   *runner

	asker  *asker // in front of r, if change has put it there
	change []func(*tasks.Config)
}

func newMachine(t testing.TB, change ...func(*tasks.Config)) *machine {
	m := &machine{t: t, dir: t.TempDir(), change: change}
	m.start()
	t.Cleanup(m.kill)
	return m
}

func (m *machine) start() {
	m.t.Helper()
	var err error
	if m.st, err = store.Open(m.t.Context(), store.Config{Dir: m.dir}); err != nil {
		m.t.Fatal(err)
	}
	m.r = newRunner()
	m.r.noteIn(m.st)
	cfg := tasks.Config{Runner: m.r, Journal: m.st}
	for _, f := range m.change {
		f(&cfg)
	}
	if m.e, err = tasks.New(cfg); err != nil {
		m.t.Fatal(err)
	}
	if err := m.e.Recover(m.t.Context()); err != nil {
		m.t.Fatal(err)
	}
}

// kill ends the engine as the end of its process would, as far as the journal
// can tell: nothing is written from here on.
func (m *machine) kill() {
	if err := m.st.Close(); err != nil {
		m.t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = m.e.Close(ctx)
}

func (m *machine) restart() {
	m.t.Helper()
	m.kill()
	m.start()
}

// save makes sure that what a task has shown is committed.
func (m *machine) save(id a2a.TaskID) {
	stream := m.e.Resume(m.t.Context(), &a2a.SubscribeToTaskRequest{ID: id}, "1.0")
	for _, err := range stream {
		if err != nil {
			m.t.Fatal(err)
		}
		return
	}
}

func tool(id string) agent.Event {
	return agent.ItemStarted{Item: agent.Item{Kind: agent.KindCommand, ID: id, Command: "make"}}
}

// TestCutTurnWithAStrayTool may run again: a script of an earlier turn began the tool.
func TestCutTurnWithAStrayTool(t *testing.T) {
	m := newMachine(t)
	begin(t, m.e, request("m1", "c", "hi"))
	j := m.r.next(t).start()
	stray := tool("cmd").(agent.ItemStarted)
	stray.Stray = true
	j.observe(stray)
	m.restart()
	if j = m.r.next(t); j.Cut == nil || j.Cut.Tool {
		t.Errorf("cut = %+v", j.Cut)
	}
}

func TestQueueSurvives(t *testing.T) {
	m := newMachine(t)
	var ids []a2a.TaskID
	for _, text := range []string{"one", "two", "three"} {
		ids = append(ids, begin(t, m.e, request("m-"+text, "c", text)).ID)
	}
	m.r.next(t).start().answer("1")
	m.restart()
	for _, want := range []string{"two", "three"} {
		j := m.r.next(t)
		if j.prompt() != want || j.Cut != nil || !j.Accepted || j.Context != "c" {
			t.Errorf("job %+v, want %q", j.Job, want)
		}
		j.start().answer("the answer to " + want)
	}
	for i, want := range []string{"1", "the answer to two", "the answer to three"} {
		if got := get(t, m.e, ids[i]); got.Status.State != a2a.TaskStateCompleted || got.Artifacts[0].Parts[0].Text() != want {
			t.Errorf("task %d: %s %v", i, got.Status.State, texts(got))
		}
	}
	if again := begin(t, m.e, request("m-two", "c", "two")); again.ID != ids[1] || m.r.count() != 2 {
		t.Error("a message that is sent again after a restart is another task")
	}
	_, err := m.e.SendMessage(t.Context(), request("m-two", "c", "other"))
	wantError(t, err, a2a.ErrInvalidParams, "other content")
}

// TestCutTurn: what is known of an attempt goes to the runner, and what the next
// attempt shows stands in the place of what this one has shown.
func TestCutTurn(t *testing.T) {
	m := newMachine(t)
	task := begin(t, m.e, request("m1", "c", "hi"))
	j := m.r.next(t).start()
	j.say("item-1", "half of it")
	m.save(task.ID)
	m.restart()
	if got := get(t, m.e, task.ID); got.Status.State != a2a.TaskStateWorking || strings.Join(texts(got), "") != `item-1="half of i"` { // its last character waits for the end
		t.Errorf("after the start: %s %v", got.Status.State, texts(got))
	}
	watcher := follow(t, m.e, task.ID)
	j = m.r.next(t)
	if j.Cut == nil || *j.Cut != (executor.Cut{Attempt: 1, ThreadID: "thread"}) {
		t.Fatalf("cut = %+v", j.Cut)
	}
	j.attempt(2)
	j.say("item-2", "all ")
	j.say("item-2", "of it")
	j.end(agent.Ended{Outcome: agent.Completed, Messages: []agent.Message{{ItemID: "item-2", Text: "all of it"}}})
	done := get(t, m.e, task.ID)
	if got := strings.Join(texts(done), " "); got != `item-1="all of it"` || done.Metadata[keys.Attempt] != 2.0 || done.Metadata[keys.Reply] != "item-1" {
		t.Errorf("after the second attempt: %s %v", got, done.Metadata)
	}
	if got := fold(t, watcher.wait(t)); got["item-1"] != "all of it" {
		t.Errorf("a reader has %v", got)
	}
}

// TestCutAsItBegan: what ends says which attempt it was, though the process was killed
// before it had shown anything of that.
func TestCutAsItBegan(t *testing.T) {
	m := newMachine(t)
	task := begin(t, m.e, request("m1", "c", "hi"))
	m.r.next(t).start()
	m.save(task.ID)
	m.restart()
	m.r.next(t).attempt(2)
	m.restart()
	m.r.next(t).end(agent.Ended{Outcome: agent.Interrupted, Failure: &agent.Failure{Kind: agent.FailUnreachable, Message: "cut off"}})
	if cut := get(t, m.e, task.ID); cut.Metadata[keys.Attempt] != 2.0 || cut.Metadata[keys.Interrupted] != true {
		t.Errorf("%s %v", cut.Status.State, cut.Metadata)
	}
}

func TestCutTurnWithTool(t *testing.T) {
	m := newMachine(t)
	task := begin(t, m.e, request("m1", "c", "hi"))
	j := m.r.next(t).start()
	j.say("item-1", "I run it")
	j.whole("item-1", "I run it", "")
	j.observe(tool("cmd"))
	m.restart() // and nothing was saved on purpose
	j = m.r.next(t)
	if j.Cut == nil || *j.Cut != (executor.Cut{Attempt: 1, ThreadID: "thread", Tool: true}) {
		t.Fatalf("cut = %+v", j.Cut)
	}
	j.end(agent.Ended{Outcome: agent.Interrupted, Tools: true, Failure: &agent.Failure{Kind: agent.FailUnreachable, Message: "cut off"}})
	cut := get(t, m.e, task.ID)
	if cut.Status.State != a2a.TaskStateFailed || cut.Metadata[keys.Interrupted] != true || strings.Join(texts(cut), "") != `item-1="I run it"` {
		t.Errorf("%s %v %v", cut.Status.State, cut.Metadata, texts(cut))
	}

	same := begin(t, m.e, request("m1", "c", "hi"))
	if same.ID != task.ID {
		t.Error("an interrupted message runs again without being told to")
	}
	again := request("m1", "c", "hi")
	again.Message.Metadata = map[string]any{"retry": true}
	retried := begin(t, m.e, again)
	if retried.ID == task.ID || retried.Metadata[keys.RetryOf] != string(task.ID) {
		t.Fatalf("retry: %+v", retried)
	}
	m.r.next(t).start().answer("now it is done")
	if got := begin(t, m.e, again); got.ID != retried.ID || got.Status.State != a2a.TaskStateCompleted {
		t.Errorf("retried again: %s of %s", got.Status.State, got.ID)
	}
}

// TestRetryOnAFullDisk: what was cut off runs again once the journal knows that it was.
func TestRetryOnAFullDisk(t *testing.T) {
	r := newRunner()
	journal := &brokenJournal{Journal: newJournal(t)}
	e := newEngine(t, r, func(c *tasks.Config) { c.Journal = journal })
	task := begin(t, e, request("m1", "c", "hi"))
	j := r.next(t).start()
	j.observe(tool("cmd"))
	journal.stiff.Store(true)
	j.end(agent.Ended{Outcome: agent.Interrupted, Tools: true, Failure: &agent.Failure{Kind: agent.FailUnreachable, Message: "cut off"}})
	again := request("m1", "c", "hi")
	again.Config.ReturnImmediately = true
	if got := send(t, e, again); got.ID != task.ID || got.Metadata[keys.Interrupted] != true {
		t.Fatalf("%s %v", got.ID, got.Metadata)
	}
	again.Message.Metadata = map[string]any{"retry": true}
	_, err := e.SendMessage(t.Context(), again)
	wantError(t, err, a2a.ErrInternalError, "how the message ended")
	journal.stiff.Store(false)
	if retried := begin(t, e, again); retried.Metadata[keys.RetryOf] != string(task.ID) {
		t.Errorf("retry: %s %v", retried.Status.State, retried.Metadata)
	}
}

// TestCancelSurvives a kill in the middle of it: nobody has to ask for it again.
func TestCancelSurvives(t *testing.T) {
	asked := make(chan *job, 2)
	m := newMachine(t, func(c *tasks.Config) {
		c.Runner.(*runner).onCancel = func(j *job) { asked <- j } // and it takes its time
	})
	task := begin(t, m.e, request("m1", "c", "hi"))
	m.r.next(t).start()
	left := make(chan struct{})
	go func(e *tasks.Engine) {
		defer close(left)
		_, _ = e.CancelTask(context.Background(), &a2a.CancelTaskRequest{ID: task.ID})
	}(m.e)
	<-asked
	m.restart()
	<-left
	select {
	case j := <-asked:
		j.end(agent.Ended{Outcome: agent.Canceled})
	case <-time.After(time.Minute):
		t.Fatal("the next process does not cancel it")
	}
	if got := get(t, m.e, task.ID); got.Status.State != a2a.TaskStateCanceled {
		t.Errorf("%+v", got)
	}
}

// TestFollowUpsSurvive: a task with a turn that ended, one that runs and one
// that waits.
func TestFollowUpsSurvive(t *testing.T) {
	m := newMachine(t)
	task := begin(t, m.e, request("m1", "c", "one"))
	for _, text := range []string{"two", "three"} {
		req := request("m-"+text, "", text)
		req.Message.TaskID = task.ID
		begin(t, m.e, req)
	}
	m.r.next(t).start().answer("first")
	m.r.next(t).start().say("item-2", "sec")
	m.save(task.ID)
	m.restart()
	j := m.r.next(t)
	if j.prompt() != "two" || j.Cut == nil {
		t.Fatalf("%+v", j.Job)
	}
	j.attempt(2)
	j.end(agent.Ended{Outcome: agent.Completed, Messages: []agent.Message{{ItemID: "x", Text: "second"}}})
	m.r.next(t).start().answer("third")
	done := get(t, m.e, task.ID)
	if got := strings.Join(texts(done), " "); done.Status.State != a2a.TaskStateCompleted || len(done.History) != 3 || len(done.Artifacts) != 3 ||
		!strings.Contains(got, `item-2="second"`) || !strings.Contains(got, `="first"`) || !strings.Contains(got, `="third"`) {
		t.Errorf("%s %s with %d messages", done.Status.State, got, len(done.History))
	}
}

func TestReplacedThreadIsSaid(t *testing.T) {
	m := newMachine(t)
	id := begin(t, m.e, request("m1", "c", "hi")).ID
	j := m.r.next(t)
	j.observe(agent.Started{ThreadID: "new", TurnID: "turn", Attempt: 1, Replaced: true})
	j.answer("who are you?")
	if got := get(t, m.e, id); got.Metadata[keys.Replaced] != true {
		t.Errorf("metadata = %v", got.Metadata)
	}
}

// TestAnswerOfAnEndedTask: an answer was accepted, and the process died after the
// task's end and before it was noted that the turn had got it.
func TestAnswerOfAnEndedTask(t *testing.T) {
	m := newMachine(t)
	id := begin(t, m.e, request("m1", "c", "hi")).ID
	m.r.next(t).start().answer("done")
	row, err := m.st.Task(t.Context(), string(id))
	if err != nil {
		t.Fatal(err)
	}
	late := store.Message{Key: store.Key{Message: "m2"}, TaskID: string(id), Job: string(id) + ".2", Conversation: "c", Body: []byte(`{"messageId":"m2"}`)}
	if err := m.st.Accept(t.Context(), late, row.Head); err != nil {
		t.Fatal(err)
	}
	m.restart()
	if open, err := m.st.Unfinished(t.Context()); err != nil || len(open) != 0 || m.r.count() != 0 {
		t.Errorf("%d left, %d jobs, %v", len(open), m.r.count(), err)
	}
	if got := get(t, m.e, id); got.Status.State != a2a.TaskStateCompleted {
		t.Errorf("the task is %s", got.Status.State)
	}
}

// TestUnreadableTask ends, and the others go on.
func TestUnreadableTask(t *testing.T) {
	m := newMachine(t)
	bad, good := begin(t, m.e, request("m1", "c", "one")).ID, begin(t, m.e, request("m2", "d", "two")).ID
	row, err := m.st.Task(t.Context(), string(bad))
	if err != nil {
		t.Fatal(err)
	}
	row.Body = []byte("{no JSON")
	if err := m.st.Write(t.Context(), store.Change{Head: &row.Head}); err != nil {
		t.Fatal(err)
	}
	m.restart()
	if j := m.r.next(t); j.prompt() != "two" {
		t.Errorf("job %+v", j.Job)
	} else {
		j.start().answer("done")
	}
	if got := get(t, m.e, bad); got.Status.State != a2a.TaskStateFailed || got.Metadata[keys.Interrupted] != true {
		t.Errorf("%s %v", got.Status.State, got.Metadata)
	}
	if got := get(t, m.e, good); got.Status.State != a2a.TaskStateCompleted {
		t.Errorf("the other is %s", got.Status.State)
	}
	m.restart()
	if m.r.count() != 0 {
		t.Error("it comes again")
	}
}

// TestCancelOverAStop: the next process cancels, and this one says so.
func TestCancelOverAStop(t *testing.T) {
	m := newMachine(t)
	id := begin(t, m.e, request("m1", "c", "hi")).ID
	j := m.r.next(t).start()
	m.r.onCancel = func(*job) {
		j.end(agent.Ended{Outcome: agent.Interrupted, Failure: &agent.Failure{Kind: agent.FailShutdown, Message: "stopping"}})
	}
	_, err := m.e.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: id})
	wantError(t, err, a2a.ErrServerError, "stopping")
}
