package tasks_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/overrides"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/reply"
)

// A steerer is a runner whose turns take messages.
type steerer struct {
	*runner
	steered chan *job // those that it was given, buffered

	mu    sync.Mutex // guards the fields below
	into  []string   // whose turns they went to
	ended bool       // no turn takes any
}

func newSteerer() *steerer { return &steerer{runner: newRunner(), steered: make(chan *job, 64)} }

func (s *steerer) Steer(into string, j executor.Job, observe executor.Observer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return executor.ErrNotRunning
	}
	s.into = append(s.into, into)
	taken := &job{Job: j, observe: observe, runner: s.runner}
	s.runner.mu.Lock()
	s.jobs = append(s.jobs, taken)
	s.runner.mu.Unlock()
	s.steered <- taken
	return nil
}

func (s *steerer) stopTaking() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
}

// sent sends a message in the background, without waiting for the task's end.
func sent(t *testing.T, e *tasks.Engine, req *a2a.SendMessageRequest) <-chan *a2a.Task {
	t.Helper()
	out := make(chan *a2a.Task, 1)
	go func() { out <- begin(t, e, req) }()
	return out
}

func wantTurn(t *testing.T, task *a2a.Task, turn string, ahead any) {
	t.Helper()
	got, _ := task.Metadata[keys.Turn].(string)
	if got != turn || task.Metadata[keys.Ahead] != ahead {
		t.Errorf("the metadata say %q and %v ahead, want %q and %v", got, task.Metadata[keys.Ahead], turn, ahead)
	}
}

func completed(taken ...string) agent.Ended {
	return agent.Ended{Outcome: agent.Completed, Messages: []agent.Message{{ItemID: "m", Text: "both"}}, Taken: taken}
}

// TestSteered tells each sender what became of its own message, once that is known. On a
// clock of its own nobody has waited too long before.
func TestSteered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newSteerer()
		e := newEngine(t, r)
		task := begin(t, e, request("m1", "c", "one"))
		first := r.next(t).start()
		second := sent(t, e, to(task, "m2", "two"))
		two := <-r.steered
		third := sent(t, e, to(task, "m3", "three"))
		three := <-r.steered
		synctest.Wait() // until both senders wait
		wantTurn(t, get(t, e, task.ID), "", nil)
		two.observe(agent.Steered{TurnID: "turn"})
		three.observe(agent.Unsteered{Ahead: 2})
		wantTurn(t, <-second, keys.TurnSteered, nil)
		wantTurn(t, <-third, keys.TurnQueued, 2)
		first.end(completed(two.ID))
		two.end(agent.Ended{Outcome: agent.Completed}) // it has ended with the turn
		if got := get(t, e, task.ID); got.Status.State != a2a.TaskStateWorking {
			t.Errorf("the task is %s, but a message of it waits", got.Status.State)
		}
		three.start().answer("own")
		got := get(t, e, task.ID)
		wantTask(t, got, a2a.TaskStateCompleted, "own")
		if len(got.History) != 3 || !slices.Equal(r.into, []string{first.ID, first.ID}) || r.count() != 3 {
			t.Errorf("history of %d, steered into %v, %d jobs", len(got.History), r.into, r.count())
		}
	})
}

// TestSteeredInOneCommit notes the end of a message with that of the turn that took it.
func TestSteeredInOneCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, journal := newSteerer(), &watchedJournal{Journal: newJournal(t)}
		r.book = tasks.Book(journal.Journal.(tasks.Ledger))
		e := newEngine(t, struct{ tasks.Runner }{r}, func(c *tasks.Config) { c.Journal = journal })
		task := begin(t, e, request("m1", "c", "one"))
		first := r.next(t).start()
		second := sent(t, e, to(task, "m2", "two"))
		two := <-r.steered
		first.end(completed(two.ID)) // before it was said to be taken
		wantTurn(t, <-second, keys.TurnSteered, nil)
		wantTask(t, get(t, e, task.ID), a2a.TaskStateCompleted, "both")
		if !slices.ContainsFunc(journal.changes(), func(c store.Change) bool {
			return slices.Equal(c.Ended, []string{first.ID, two.ID}) && c.Head != nil && c.Head.Ended
		}) {
			t.Error("the ends of the task and its messages were not committed together")
		}
	})
}

// A watchedJournal remembers what was written.
type watchedJournal struct {
	tasks.Journal
	mu      sync.Mutex
	written []store.Change
}

func (w *watchedJournal) Write(ctx context.Context, change store.Change) error {
	w.mu.Lock()
	w.written = append(w.written, change)
	w.mu.Unlock()
	return w.Journal.Write(ctx, change)
}

func (w *watchedJournal) changes() []store.Change {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.written)
}

// TestSteerTwice: the same message is handed to the turn once.
func TestSteerTwice(t *testing.T) {
	r := newSteerer()
	e := newEngine(t, r)
	task := begin(t, e, request("m1", "c", "one"))
	r.next(t).start()
	one := sent(t, e, to(task, "m2", "two"))
	two := <-r.steered
	again := begin(t, e, to(task, "m2", "two"))
	two.observe(agent.Steered{TurnID: "turn"})
	if (<-one).ID != task.ID || again.ID != task.ID || len(r.steered) != 0 || r.count() != 2 {
		t.Errorf("the same message became %d jobs", r.count()-1)
	}
}

// TestSteerFallsBack makes a further turn of a message that comes too late, or to a
// task that waits, or is being canceled.
func TestSteerFallsBack(t *testing.T) {
	r := newSteerer()
	e := newEngine(t, r)
	task := begin(t, e, request("m1", "c", "one"))
	first := r.next(t)
	wantTurn(t, begin(t, e, to(task, "m2", "two")), keys.TurnQueued, 1)
	r.next(t)
	first.start()
	r.stopTaking()
	wantTurn(t, begin(t, e, to(task, "m3", "three")), keys.TurnQueued, 2)
	r.next(t)
	canceling, hold := make(chan struct{}, 8), make(chan struct{})
	r.onCancel = func(j *job) {
		canceling <- struct{}{}
		<-hold
		j.end(agent.Ended{Outcome: agent.Canceled})
	}
	done := make(chan error, 1)
	go func() {
		_, err := e.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: task.ID})
		done <- err
	}()
	<-canceling
	_, err := e.SendMessage(t.Context(), to(task, "m4", "four"))
	wantError(t, err, a2a.ErrUnsupportedOperation, "is being canceled")
	close(hold)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// steeringMachine is a machine whose runner is a steerer.
func steeringMachine(t *testing.T, change ...func(*tasks.Config)) (*machine, func() *steerer) {
	var r *steerer
	m := newMachine(t, append(change, func(c *tasks.Config) {
		r = newSteerer()
		r.runner = c.Runner.(*runner)
		c.Runner = r
	})...)
	return m, func() *steerer { return r }
}

// TestSteerSurvives gives a message back to the turn that it was sent to, if it was.
func TestSteerSurvives(t *testing.T) {
	m, now := steeringMachine(t)
	task := begin(t, m.e, request("m1", "c", "one"))
	first := m.r.next(t).start()
	for _, text := range []string{"two", "three"} {
		answered := sent(t, m.e, to(task, "m-"+text, text))
		s := <-now().steered
		if text == "two" { // the other was not sent yet
			_ = m.r.book.Begin(t.Context(), executor.Attempt{Job: s.ID, N: 1, Conversation: "c", Thread: "thread"})
		}
		s.observe(agent.Steered{TurnID: "turn"})
		<-answered
	}
	m.restart()
	again, two, three := m.r.next(t), <-now().steered, m.r.next(t)
	if again.ID != first.ID || again.Cut == nil || now().into[0] != first.ID || two.prompt() != "two" || two.Cut == nil {
		t.Errorf("jobs %+v and %+v, steered into %v", again.Job, two.Job, now().into)
	}
	if three.prompt() != "three" || three.Cut != nil {
		t.Errorf("job %+v, want it queued", three.Job)
	}
	again.attempt(2).end(completed(two.ID))
	three.start().answer("own")
	wantTask(t, get(t, m.e, task.ID), a2a.TaskStateCompleted, "own")
	m.restart()
	if left, err := m.st.Unfinished(t.Context()); err != nil || len(left) != 0 {
		t.Errorf("left unfinished: %v, %v", left, err)
	}
}

// TestWishesSurviveTheTurn: what a message to a turn that did not take it has asked for
// still keeps it out of the turn that runs in its place, in the next process too.
func TestWishesSurviveTheTurn(t *testing.T) {
	m, now := steeringMachine(t, bounded(overrides.Bounds{Sandbox: agent.WorkspaceWrite}))
	narrow := map[string]any{"sandbox": "read-only"}
	first := wishing("m1", narrow)
	first.Message.ContextID = "c"
	task := begin(t, m.e, first)
	host := m.r.next(t).start()
	var handed []*job
	for i, wishes := range []map[string]any{nil, narrow} {
		req := wishing(fmt.Sprint("handed ", i), wishes)
		req.Message.TaskID = task.ID
		answered := sent(t, m.e, req)
		s := <-now().steered
		_ = m.r.book.Begin(t.Context(), executor.Attempt{Job: s.ID, N: 1, Conversation: "c", Thread: "thread"})
		s.observe(agent.Steered{TurnID: "turn"})
		handed = append(handed, s)
		<-answered
	}
	for _, s := range handed {
		s.observe(agent.Unsteered{})
	}
	host.end(completed())
	m.restart()
	one, two := m.r.next(t), m.r.next(t)
	if len(now().steered) != 0 || one.Options == two.Options || one.Cut == nil || two.Cut == nil {
		t.Errorf("%d were handed to a turn; jobs %+v and %+v", len(now().steered), one.Job, two.Job)
	}
}

// An asking runner is one whose turns take messages, and ask.
type asking struct {
	*steerer
	asker *asker
}

func (a asking) Answer(id string, answer agent.Answer) error { return a.asker.Answer(id, answer) }

// TestHosts finds the task that a message without one becomes part of.
func TestHosts(t *testing.T) {
	r := newSteerer()
	a := &asker{runner: r.runner}
	e := newEngine(t, asking{r, a}, func(c *tasks.Config) { c.MidTurn = true })
	task := begin(t, e, request("m1", "c", "one"))
	first := r.next(t)
	if other := begin(t, e, request("m2", "c", "not running yet")); other.ID == task.ID {
		t.Error("a message to a context whose turn has not begun is part of it")
	}
	r.next(t)
	first.start()
	second := sent(t, e, request("m3", "c", "two"))
	two := <-r.steered
	two.observe(agent.Steered{TurnID: "turn"})
	if got := <-second; got.ID != task.ID || len(got.History) != 2 {
		t.Errorf("the message became part of task %s, want %s", got.ID, task.ID)
	}
	if other := begin(t, e, request("m4", "d", "elsewhere")); other.ID == task.ID {
		t.Error("a message of another context is part of it")
	}
	first.ask("q1", "May I?")
	answered := sent(t, e, request("m5", "c", "accept"))
	if got := <-answered; got.ID != task.ID || a.answered() != "q1:accept" {
		t.Errorf("task %s, answered %q", got.ID, a.answered())
	}
	if again := begin(t, e, request("m5", "c", "accept")); again.ID != task.ID || a.answered() != "q1:accept" {
		t.Errorf("sent again it is task %s, answered %q", again.ID, a.answered())
	}
}

// TestHeldTurnIsNoHost: it does not run, so a message to its context waits by itself.
func TestHeldTurnIsNoHost(t *testing.T) {
	r := newSteerer()
	e := newEngine(t, r, func(c *tasks.Config) { c.MidTurn = true })
	task := begin(t, e, request("m1", "c", "one"))
	r.next(t).start().observe(agent.Paused{Kind: agent.FailAuth, Text: "log in"})
	if other := begin(t, e, request("m2", "c", "two")); other.ID == task.ID || len(r.into) != 0 {
		t.Errorf("it is part of task %s, steered into %v", other.ID, r.into)
	}
}

// A holding runner starts no turn.
type holding struct{ *runner }

func (holding) Held() string { return "the model refuses the credential" }

func TestStatusWhileHeld(t *testing.T) {
	e := newEngine(t, holding{newRunner()})
	status := begin(t, e, request("m1", "c", "/status"))
	waitFor(t, e, status.ID, a2a.TaskStateCompleted)
	if got := reply.Of(get(t, e, status.ID)).Parts[0].Text(); !strings.Contains(got, "No turn is started: the model refuses the credential.") {
		t.Errorf("the status is %q", got)
	}
}

// TestCommandsSurvive carries out what was accepted, and cancels no more than that.
func TestCommandsSurvive(t *testing.T) {
	m := newMachine(t)
	m.r.onCancel = func(*job) {} // it does not end in this process
	task := begin(t, m.e, request("m1", "c", "one"))
	m.r.next(t).start()
	stop := begin(t, m.e, request("m2", "c", "/stop"))
	later := begin(t, m.e, request("m3", "c", "later"))
	if stop.Status.State != a2a.TaskStateSubmitted {
		t.Errorf("the command is %s", stop.Status.State)
	}
	m.restart()
	waitFor(t, m.e, stop.ID, a2a.TaskStateCompleted)
	if got := get(t, m.e, task.ID); got.Status.State != a2a.TaskStateCanceled {
		t.Errorf("the task is %s", got.Status.State)
	}
	if got := get(t, m.e, later.ID); got.Status.State.Terminal() {
		t.Errorf("the task that came later is %s", got.Status.State)
	}
	if again := begin(t, m.e, request("m2", "c", "/stop")); again.ID != stop.ID {
		t.Error("the command sent again is another task")
	}
	for _, j := range m.r.jobs {
		if j.prompt() == "/stop" {
			t.Error("codex was given a command")
		}
	}
}

// waitFor reads the stream of a task until it has a state.
func waitFor(t *testing.T, e *tasks.Engine, id a2a.TaskID, state a2a.TaskState) {
	t.Helper()
	for event, err := range e.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: id}) {
		if err != nil {
			break // it has ended
		}
		if update, ok := event.(*a2a.TaskStatusUpdateEvent); ok && update.Status.State == state {
			break
		}
	}
	if got := get(t, e, id); got.Status.State != state {
		t.Errorf("task %s is %s, want %s", id, got.Status.State, state)
	}
}
