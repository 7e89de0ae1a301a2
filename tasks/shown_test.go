package tasks_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// says sends a message of a sender to the main conversation, and does not wait.
func says(t *testing.T, m *machine, id, text string, by map[string]any) *a2a.Task {
	t.Helper()
	req := request(id, "", text)
	req.Metadata, req.Config.ReturnImmediately = by, true
	return send(t, m.e, req)
}

func byUser() map[string]any { return map[string]any{"source": "canvas_user"} }

// TestLapseIsEachSenders: what one is posed again, another has not been shown.
func TestLapseIsEachSenders(t *testing.T) {
	for name, lapse := range map[string]func(m *machine, j *job){
		"told beside": func(m *machine, _ *job) { m.e.SaidToUser() },
		"withdrawn": func(_ *machine, j *job) {
			j.observe(agent.Answered{ID: "q1"})
			j.ask("q2", "May I q2?")
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := workspaceMachine(t)
			says(t, m, "m1", "hi", byUser())
			j := m.r.next(t).start()
			j.ask("q1", "May I q1?")
			lapse(m, j)
			wantStatus(t, says(t, m, "m2", "Here is the report you asked for.", nil), a2a.TaskStateInputRequired, notTaken)
			wantStatus(t, says(t, m, "m3", "yes", byUser()), a2a.TaskStateInputRequired, notTaken)
			if got := m.asker.answered(); got != "" {
				t.Errorf("answered %q", got)
			}
			m.restart()
			says(t, m, "m4", "yes", byUser()) // was posed it, by the process before
			if got := m.r.next(t).prompt(); !strings.Contains(got, "The user's answer:") {
				t.Errorf("the new turn is given %q", got)
			}
		})
	}
}

// TestAnotherSenderOverARestart: the next process knows who has been shown what was asked.
func TestAnotherSenderOverARestart(t *testing.T) {
	m := workspaceMachine(t)
	says(t, m, "m1", "hi", byUser())
	m.r.next(t).start().ask("q1", "May I q1?")
	m.restart()
	m.restart()
	wantStatus(t, says(t, m, "m2", "yes", nil), a2a.TaskStateInputRequired, notTaken, "May I q1?")
	if n := m.r.count(); n != 0 {
		t.Fatalf("%d jobs", n)
	}
	says(t, m, "m3", "yes", byUser())
	if got := m.r.next(t).prompt(); !strings.Contains(got, "May I q1?") {
		t.Errorf("the new turn is given %q", got)
	}
}

// TestIDOfAnotherQuestionOverARestart is for that one, which is open no more.
func TestIDOfAnotherQuestionOverARestart(t *testing.T) {
	m, task, j := askingMachine(t, time.Time{}, "q1")
	j.observe(agent.Answered{ID: "q1"})
	j.ask("q2", "May I q2?")
	m.restart()
	wantStatus(t, send(t, m.e, answerWith(task, "m2", map[string]any{"id": "q1", "decision": "accept"})), a2a.TaskStateInputRequired, "No question of that id is open.")
	if n := m.r.count(); n != 0 {
		t.Fatalf("%d jobs", n)
	}
	send(t, m.e, answerWith(task, "m3", map[string]any{"id": "q2", "decision": "accept"}))
	if got := m.r.next(t).prompt(); !strings.Contains(got, "May I q2?") {
		t.Errorf("the new turn is given %q", got)
	}
}

// TestToldJustBefore: words that come as a question does may be for what the user was told before it,
// also where something has lapsed before.
func TestToldJustBefore(t *testing.T) {
	m := workspaceMachine(t)
	says(t, m, "m1", "hi", byUser())
	j := m.r.next(t).start()
	for _, q := range []string{"q1", "q2"} {
		m.e.SaidToUser()
		j.ask(q, "May I "+q+"?")
		wantStatus(t, says(t, m, q+"-a", "yes", byUser()), a2a.TaskStateInputRequired, notTaken, "May I "+q+"?")
		says(t, m, q+"-b", "yes", byUser())
		if got := m.asker.answered(); !strings.Contains(got, q+":") {
			t.Errorf("answered %q", got)
		}
		j.ask(q+"-else", "May I?")
		m.e.SaidToUser()
		says(t, m, q+"-c", "yes", byUser())
		says(t, m, q+"-d", "yes", byUser())
	}
	j.answer("done")
}

// TestToldJustBeforeALateQuestion: the same where it reaches the user by others; what counts is when the
// words were written, and not when they come here.
func TestToldJustBeforeALateQuestion(t *testing.T) {
	for name, posts := range map[string]bool{"late": false, "followed": true} {
		for after, taken := range map[time.Duration]bool{0: false, 1900 * time.Millisecond: false, time.Minute: true} {
			t.Run(fmt.Sprint(name, "-", after), func(t *testing.T) {
				m, task, j := callGone(t, posts, (*tasks.Engine).SaidToUser)
				m.e.Telling("canvas-ws", task.Status.Message.ID, tasks.Sends)
				reaches := time.Now() // or later
				m.e.Telling("canvas-ws", task.Status.Message.ID, tasks.Arrived)
				yes := request("m3", "", "yes")
				yes.Metadata, yes.Config.ReturnImmediately = byUser(), true
				if _, err := m.e.SendMessage(tasks.WithWritten(t.Context(), reaches.Add(after)), yes); err != nil {
					t.Fatal(err)
				}
				if got := m.asker.answered(); (got != "") != taken {
					t.Errorf("answered %q", got)
				}
				j.answer("done")
			})
		}
	}
}

// calls has the user send a message and wait for its answer.
func (m *machine) calls() (answered <-chan *a2a.Task, receipt *tasks.Receipt) {
	ctx, receipt := tasks.WithReceipt(m.t.Context())
	first := request("m1", "", "hi")
	first.Metadata = byUser()
	got := make(chan *a2a.Task, 1)
	go func() {
		answer, _ := m.e.SendMessage(ctx, first)
		task, _ := answer.(*a2a.Task)
		got <- task
	}()
	return got, receipt
}

// callGone has a task ask whose caller is gone, or is answered by who follows the task; other things
// happen before it does.
func callGone(t *testing.T, posts bool, before ...func(*tasks.Engine)) (*machine, *a2a.Task, *job) {
	t.Helper()
	m := workspaceMachine(t)
	m.change = append(m.change, func(c *tasks.Config) { c.Workspace.Posts = posts })
	m.restart()
	answered, receipt := m.calls()
	j := m.r.next(t).start()
	receipt.Settle(false)
	for working := false; !working; { // before that the engine has no such task
		task, err := m.e.GetTask(t.Context(), &a2a.GetTaskRequest{ID: tasks.TaskOf(j.ID)})
		working = err == nil && task.Status.State == a2a.TaskStateWorking
		runtime.Gosched()
	}
	for _, happens := range before {
		happens(m.e)
	}
	j.ask("q1", "May I q1?")
	return m, <-answered, j
}

// TestAskedWhereNobodyWaits: what is asked when the call is gone counts once it has reached the user,
// and by the message that asks it.
func TestAskedWhereNobodyWaits(t *testing.T) {
	// reaches is what there is to tell of a message that reaches the user.
	reaches := func(m *machine, conversation, reply string) {
		m.e.Telling(conversation, reply, tasks.Sends)
		m.e.Telling(conversation, reply, tasks.Arrived)
	}
	for name, c := range map[string]struct {
		posts    bool
		told     func(m *machine, asks string)
		accepted bool
	}{
		"not yet":           {false, func(*machine, string) {}, false},
		"on its way":        {false, func(m *machine, asks string) { m.e.Telling("", asks, tasks.Sends) }, false},
		"another reply":     {false, func(m *machine, _ string) { reaches(m, "", "another") }, false},
		"there":             {false, func(m *machine, asks string) { reaches(m, "", asks) }, true},
		"at another try":    {false, func(m *machine, asks string) { m.e.Telling("", asks, tasks.Sends); reaches(m, "", asks) }, true},
		"and another reply": {false, func(m *machine, asks string) { reaches(m, "", asks); m.e.Telling("", "another", tasks.Sends) }, false},
		"written while a try fails": {true, func(m *machine, asks string) {
			m.e.Telling("canvas-ws", asks, tasks.Sends)
			m.e.Telling("canvas-ws", asks, tasks.Failed)
		}, false},
		"told meanwhile": {false, func(m *machine, asks string) {
			m.e.Telling("", asks, tasks.Sends)
			m.e.SaidToUser()
			m.e.Telling("", asks, tasks.Arrived)
		}, false},
		"followed":          {true, func(*machine, string) {}, false},
		"followed, there":   {true, func(m *machine, asks string) { reaches(m, "canvas-ws", asks) }, true},
		"elsewhere":         {true, func(m *machine, asks string) { reaches(m, "elsewhere", asks) }, false},
		"beside, elsewhere": {true, func(m *machine, asks string) { reaches(m, "canvas-ws", asks); reaches(m, "elsewhere", "x") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			m, task, j := callGone(t, c.posts)
			c.told(m, task.Status.Message.ID)
			got := says(t, m, "m2", "yes", byUser())
			if c.accepted == (m.asker.answered() == "") {
				t.Errorf("answered %q, status %q", m.asker.answered(), status(got))
			}
			j.answer("done")
		})
	}
}

// TestWrittenBetweenTwoTries: the first of which had not been shown.
func TestWrittenBetweenTwoTries(t *testing.T) {
	m, task, j := callGone(t, true)
	asks := task.Status.Message.ID
	m.e.Telling("canvas-ws", asks, tasks.Sends)
	m.e.Telling("canvas-ws", asks, tasks.Failed)
	between := tasks.WithWritten(t.Context(), time.Now())
	m.e.Telling("canvas-ws", asks, tasks.Sends)
	m.e.Telling("canvas-ws", asks, tasks.Arrived)
	yes := request("m2", "", "yes")
	yes.Metadata, yes.Config.ReturnImmediately = byUser(), true
	if _, err := m.e.SendMessage(between, yes); err != nil {
		t.Fatal(err)
	}
	if got := m.asker.answered(); got != "" {
		t.Errorf("answered %q", got)
	}
	j.answer("done")
}

// TestPosedAgainToWhoIsFollowed: that has to reach the user, too.
func TestPosedAgainToWhoIsFollowed(t *testing.T) {
	m, task, j := callGone(t, true)
	for _, id := range []string{"m2", "m3"} {
		wantStatus(t, says(t, m, id, "yes", byUser()), a2a.TaskStateInputRequired, notTaken, "May I q1?")
	}
	asks := get(t, m.e, task.ID).Status.Message.ID
	m.e.Telling("canvas-ws", asks, tasks.Sends)
	m.e.Telling("canvas-ws", asks, tasks.Arrived)
	says(t, m, "m4", "yes", byUser())
	if got := m.asker.answered(); !strings.HasPrefix(got, "q1:") {
		t.Errorf("answered %q", got)
	}
	j.answer("done")
}

// TestFileBesideAnAnswer: it would reach nobody, so the message is no answer.
func TestFileBesideAnAnswer(t *testing.T) {
	m, task, j := askingMachine(t, time.Time{}, "q1")
	req := atOnce(task, "m2", "yes")
	req.Message.Parts = append(req.Message.Parts, a2a.NewRawPart([]byte("log")))
	send(t, m.e, req)
	m.asker.mu.Lock()
	defer m.asker.mu.Unlock()
	if len(m.asker.answers) != 1 || !m.asker.answers[0].Files {
		t.Error("the runner is not told of the file")
	}
	j.answer("done")
}

// TestPromisedAnswer: the user who is told that the answer comes gets it, also where nobody stands behind
// the call that began the turn, and has it, too.
func TestPromisedAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		id     string
		begins map[string]any
		owed   int
	}{
		"schedule": {"cron-1-1", nil, 1}, "webhook": {"w1", map[string]any{"source": "github"}, 1}, "the workspace itself": {"s1", map[string]any{"source_type": "self-idle"}, 1},
		"nobody knows who": {"a1", nil, 0}, "the user": {"u1", byUser(), 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			first := d.call(c.id, "", c.begins, "hi")
			j := d.r.next(t)
			begun(j)
			second := d.call("m2", "", byUser(), "what is 2+2?")
			second.wait(t)
			second.receipt.Settle(true)
			j.observe(agent.Ended{Outcome: agent.Completed, Taken: []string{d.r.steered[0]}, Messages: []agent.Message{{ItemID: "m", Text: "4"}}})
			first.wait(t)
			first.receipt.Settle(true)
			if rows := d.owed(); len(rows) != c.owed {
				t.Errorf("the user is owed %d replies", len(rows))
			}
		})
	}
}

// TestTwoTasksAsk: the words for what was posed again go there, and not to another task that asks.
func TestTwoTasksAsk(t *testing.T) {
	m := workspaceMachine(t)
	says(t, m, "m1", "hi", byUser())
	m.r.next(t).start().ask("q1", "May I q1?")
	m.restart()
	other := begin(t, m.e, request("cron-1-1", "", "hi"))
	m.r.next(t).start().ask("q2", "May I q2?")
	status := get(t, m.e, other.ID).Status
	m.e.Telling("", status.Message.ID, tasks.Sends)
	m.e.Telling("", status.Message.ID, tasks.Arrived)
	for time.Since(*status.Timestamp) < 2*time.Millisecond { // what follows is later, as states have it
		runtime.Gosched()
	}
	wantStatus(t, says(t, m, "m2", "yes", byUser()), a2a.TaskStateInputRequired, notTaken, "May I q1?")
	says(t, m, "m3", "yes", byUser())
	if got := m.asker.answered(); got != "" {
		t.Errorf("answered %q", got)
	}
}

// TestArrivalLiftsNoLapse: that the next question has reached the user says nothing of the words for the
// one before it, which has gone.
func TestArrivalLiftsNoLapse(t *testing.T) {
	for name, posts := range map[string]bool{"late": false, "followed": true} {
		t.Run(name, func(t *testing.T) {
			m, task, j := callGone(t, posts)
			reach := func() {
				asks := get(t, m.e, task.ID).Status.Message.ID
				m.e.Telling("canvas-ws", asks, tasks.Sends)
				m.e.Telling("canvas-ws", asks, tasks.Arrived)
			}
			reach()
			j.observe(agent.Answered{ID: "q1"})
			j.ask("q2", "May I q2?")
			reach()
			wantStatus(t, says(t, m, "m2", "yes", byUser()), a2a.TaskStateInputRequired, notTaken, "May I q2?")
			reach()
			says(t, m, "m3", "yes", byUser())
			if got := m.asker.answered(); !strings.HasPrefix(got, "q2:") {
				t.Errorf("answered %q", got)
			}
			j.answer("done")
		})
	}
}

// TestSenderOfAWaitingMessage is the same one in the next process.
func TestSenderOfAWaitingMessage(t *testing.T) {
	for name, c := range map[string]struct {
		context    string
		first, yes map[string]any // of the requests
	}{
		"begun by nobody knows who": {yes: byUser()},
		"begun by the user":         {context: "c7", first: byUser()},
	} {
		t.Run(name, func(t *testing.T) {
			m := workspaceMachine(t)
			first, yes := request("m1", c.context, "hi"), request("m2", c.context, "yes")
			first.Metadata, yes.Metadata, yes.Config.ReturnImmediately = c.first, c.yes, true
			begin(t, m.e, first)
			m.r.next(t)
			m.restart()
			m.r.next(t).start().ask("q1", "May I q1?")
			wantStatus(t, send(t, m.e, yes), a2a.TaskStateInputRequired, notTaken, "May I q1?")
		})
	}
}
