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
)

// notTaken is what the sender of an answer reads that may be meant for another question.
const notTaken = "Your answer was not taken, for it may be meant for something else"

// lapse has a first question go without an answer, and a second one in its place.
func lapse(t *testing.T) (*machine, *a2a.Task, *job) {
	t.Helper()
	m, task, j := askingMachine(t, time.Time{}, "q1")
	j.observe(agent.Answered{ID: "q1"})
	j.ask("q2", "May I q2?")
	return m, task, j
}

// atOnce is an answer that is not waited for.
func atOnce(task *a2a.Task, id, text string) *a2a.SendMessageRequest {
	req := to(task, id, text)
	req.Config.ReturnImmediately = true
	return req
}

// TestWordsForALapsedQuestion are no leave for the one in its place: that is posed again, once.
func TestWordsForALapsedQuestion(t *testing.T) {
	for name, answer := range map[string]func(task *a2a.Task, id string) *a2a.SendMessageRequest{
		"words": func(task *a2a.Task, id string) *a2a.SendMessageRequest { return atOnce(task, id, "yes") },
		"data": func(task *a2a.Task, id string) *a2a.SendMessageRequest {
			return answerWith(task, id, map[string]any{"decision": "accept"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, task, j := lapse(t)
			wantStatus(t, send(t, m.e, answer(task, "m2")), a2a.TaskStateInputRequired, notTaken, "May I q2?")
			if got := m.asker.answered(); got != "" {
				t.Errorf("answered %q", got)
			}
			wantStatus(t, send(t, m.e, answer(task, "m2")), a2a.TaskStateInputRequired, notTaken) // the same message
			send(t, m.e, answer(task, "m3"))
			if got := m.asker.answered(); !strings.HasPrefix(got, "q2:") {
				t.Errorf("answered %q", got)
			}
			j.ask("q3", "May I q3?")
			wantStatus(t, send(t, m.e, answer(task, "m4")), a2a.TaskStateWorking) // nothing has lapsed since
			j.answer("done")
		})
	}
}

// TestClearAnswersAfterALapse are taken at once: those by an id, and those that allow nothing.
func TestClearAnswersAfterALapse(t *testing.T) {
	for name, answer := range map[string]func(task *a2a.Task) *a2a.SendMessageRequest{
		"id": func(task *a2a.Task) *a2a.SendMessageRequest {
			return answerWith(task, "m2", map[string]any{"id": "q2", "decision": "accept"})
		},
		"no":     func(task *a2a.Task) *a2a.SendMessageRequest { return atOnce(task, "m2", "No!") },
		"cancel": func(task *a2a.Task) *a2a.SendMessageRequest { return atOnce(task, "m2", "cancel") },
		"decline": func(task *a2a.Task) *a2a.SendMessageRequest {
			return answerWith(task, "m2", map[string]any{"decision": "decline"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, task, j := lapse(t)
			wantStatus(t, send(t, m.e, answer(task)), a2a.TaskStateWorking)
			if got := m.asker.answered(); !strings.HasPrefix(got, "q2:") {
				t.Errorf("answered %q", got)
			}
			j.ask("q3", "May I q3?") // which the sender of a yes to q1 has not been shown either
			wantStatus(t, send(t, m.e, atOnce(task, "m3", "yes")), a2a.TaskStateInputRequired, notTaken, "May I q3?")
			j.answer("done")
		})
	}
}

// TestNoCanBeContent: to what the model, or a server, wants to know it may say anything.
func TestNoCanBeContent(t *testing.T) {
	for _, kind := range []string{"input", "form"} {
		m, task, j := askingMachine(t, time.Time{}, "q1")
		j.observe(agent.Answered{ID: "q1"})
		j.observe(agent.Question{ID: "q2", Kind: kind, Text: "Shall the backups stay?"})
		wantStatus(t, send(t, m.e, atOnce(task, "m2", "no")), a2a.TaskStateInputRequired, notTaken, "Shall the backups stay?")
		j.answer("done")
	}
}

// TestLapses are the ways in which a question goes without an answer.
func TestLapses(t *testing.T) {
	for name, c := range map[string]struct {
		asked []string
		lapse func(*machine, *a2a.Task, *job)
	}{
		"expired":         {[]string{"q1"}, func(_ *machine, _ *a2a.Task, j *job) { j.observe(agent.Answered{ID: "q1", Note: "Too late."}) }},
		"asked beside it": {[]string{"q1", "q"}, func(_ *machine, _ *a2a.Task, j *job) { j.observe(agent.Answered{ID: "q1"}) }},
		"not the first one": {[]string{"q0", "q1"}, func(m *machine, task *a2a.Task, j *job) {
			j.observe(agent.Answered{ID: "q1"})
			send(t, m.e, answerWith(task, "m0", map[string]any{"id": "q0", "decision": "accept"}))
		}},
		"another attempt": {[]string{"q1"}, func(_ *machine, _ *a2a.Task, j *job) { j.attempt(2) }},
		"over an answer that comes too late": {[]string{"q1"}, func(m *machine, task *a2a.Task, _ *job) {
			m.asker.late = executor.ErrNotAsked
			send(t, m.e, atOnce(task, "m0", "yes"))
			m.asker.late = nil
		}},
		"over an answer that is not understood": {[]string{"q1"}, func(m *machine, task *a2a.Task, j *job) {
			m.asker.late = &agent.NotUnderstoodError{Why: "That is no answer."}
			m.asker.onAnswer = func() { j.observe(agent.Answered{ID: "q1"}) }
			send(t, m.e, atOnce(task, "m0", "perhaps"))
			m.asker.late, m.asker.onAnswer = nil, nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			m, task, j := askingMachine(t, time.Time{}, c.asked...)
			c.lapse(m, task, j)
			j.ask("q2", "May I q2?")
			before := m.asker.answered()
			wantStatus(t, send(t, m.e, atOnce(task, "m2", "yes")), a2a.TaskStateInputRequired, notTaken)
			if got := m.asker.answered(); got != before {
				t.Errorf("answered %q, before %q", got, before)
			}
			j.answer("done")
		})
	}
}

// TestDataThatComeTooLate are refused: the model could make nothing of them.
func TestDataThatComeTooLate(t *testing.T) {
	m, task, j := askingMachine(t, time.Time{}, "q1")
	m.asker.late = executor.ErrNotAsked
	_, err := m.e.SendMessage(t.Context(), answerWith(task, "m2", map[string]any{"decision": "accept"}))
	wantError(t, err, a2a.ErrUnsupportedOperation, "asks nothing")
	m.wantLeft(t, 1, 0)
	j.answer("done")
}

// TestDataThatComeTooLateNameNoTask are refused likewise, with the conversation only: they begin no task.
func TestDataThatComeTooLateNameNoTask(t *testing.T) {
	const question = "01a224ff-f264-7e45-8915-33436124e6f2-1"
	for name, data := range map[string]map[string]any{
		"no-id": {"decision": "accept"}, "id": {"id": question, "decision": "accept"},
	} {
		t.Run(name, func(t *testing.T) {
			m, _, j := askingMachine(t, time.Time{}, question)
			m.asker.late = executor.ErrNotAsked
			late := request("m2", "c", "")
			late.Config.ReturnImmediately = true
			late.Message.Parts = a2a.ContentParts{a2a.NewDataPart(data)}
			_, err := m.e.SendMessage(t.Context(), late)
			wantError(t, err, a2a.ErrUnsupportedOperation, "asks nothing")
			m.wantLeft(t, 1, 0)
			j.answer("done")
		})
	}
	m, _, j := askingMachine(t, time.Time{}, question)
	j.answer("done")
	for id, data := range map[string]map[string]any{"m2": {"decision": "accept"}, "m3": {"content": map[string]any{"name": "Ada"}}} {
		late := request(id, "c", "")
		late.Config.ReturnImmediately = true
		data["id"] = question
		late.Message.Parts = a2a.ContentParts{a2a.NewDataPart(data)}
		_, err := m.e.SendMessage(t.Context(), late)
		wantError(t, err, a2a.ErrUnsupportedOperation, "is not open in this conversation")
	}
}

// workspaceMachine is one of a workspace, whose turns can ask.
func workspaceMachine(t *testing.T) *machine {
	t.Helper()
	m := newMachine(t)
	m.change = append(m.change, func(c *tasks.Config) {
		m.asker = &asker{runner: c.Runner.(*runner)}
		c.Runner, c.Main, c.Workspace = m.asker, "canvas-ws", &tasks.Workspace{Steer: true}
	})
	m.restart()
	return m
}

// TestOwnTurnIsMet: the first yes to what a turn of the workspace's own asks is for nothing, and those
// after it, which answer what the user was posed, are taken.
func TestOwnTurnIsMet(t *testing.T) {
	m := workspaceMachine(t)
	own := request("m1", "canvas-ws", "hi")
	own.Message.Metadata = map[string]any{"source_type": "self-idle"}
	task := begin(t, m.e, own)
	j := m.r.next(t).start()
	again := atOnce(task, "m1-again", "and this")
	again.Message.Metadata = own.Message.Metadata
	send(t, m.e, again)
	behind := m.r.next(t)
	j.ask("q1", "May I q1?")
	wantStatus(t, send(t, m.e, atOnce(task, "m2", "yes")), a2a.TaskStateInputRequired, notTaken, "May I q1?")
	send(t, m.e, atOnce(task, "m3", "yes"))
	j.ask("q2", "May I q2?")
	send(t, m.e, atOnce(task, "m4", "yes"))
	if got := m.asker.answered(); !strings.Contains(got, "q1:") || !strings.Contains(got, "q2:") {
		t.Errorf("answered %q", got)
	}
	behind.observe(agent.Started{})
	behind.ask("q3", "May I q3?") // which no reply to the user has had
	wantStatus(t, send(t, m.e, atOnce(task, "m5", "yes")), a2a.TaskStateInputRequired, notTaken, "May I q3?")
}

// TestWordsOfAnotherSender are no leave for what a turn asks that was begun for somebody else, until
// they have met it; those of who has begun it are, and so are words that name the task.
func TestWordsOfAnotherSender(t *testing.T) {
	user := map[string]any{"source": "canvas_user"}
	for name, c := range map[string]struct {
		id       string
		begins   map[string]any
		context  string // of the turn
		answers  map[string]any
		names    bool // the task
		accepted bool
	}{
		"the same":                  {"m1", user, "", user, false, true},
		"the same, elsewhere":       {"m1", map[string]any{"history": []any{}}, "", user, false, true},
		"nobody knows who":          {"m1", nil, "", nil, false, true},
		"begun by nobody knows who": {"m1", nil, "", user, false, false},
		"to nobody knows who":       {"m1", user, "", nil, false, false},
		"that names the task":       {"m1", nil, "", user, true, true},
		"a schedule":                {"cron-0a1b2c3d-4e5f6a7b", nil, "", user, false, false},
		"a schedule, by its task":   {"cron-0a1b2c3d-4e5f6a7b", nil, "", user, true, false},
		"run now":                   {"manual-cron-17", user, "", user, false, false},
		"a service":                 {"m1", map[string]any{"source": "github"}, "", user, false, false},
		"a service, to anybody":     {"m1", map[string]any{"source": "github"}, "", nil, false, false},
		"a chat, by its name":       {"m1", chat("C0"), "chat:slack/C0", user, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			m := workspaceMachine(t)
			first := request(c.id, "", "hi")
			first.Metadata = c.begins
			task := begin(t, m.e, first)
			j := m.r.next(t).start()
			j.ask("q1", "May I q1?")
			yes := func(id string) *a2a.Task {
				req := request(id, c.context, "yes")
				req.Metadata, req.Config.ReturnImmediately = c.answers, true
				if c.names {
					req.Message.TaskID = task.ID
				}
				return send(t, m.e, req)
			}
			if !c.accepted {
				wantStatus(t, yes("m2"), a2a.TaskStateInputRequired, notTaken, "May I q1?")
				if got := m.asker.answered(); got != "" {
					t.Errorf("answered %q", got)
				}
			}
			yes("m3")
			if got := m.asker.answered(); !strings.HasPrefix(got, "q1:") {
				t.Errorf("answered %q", got)
			}
			j.answer("done")
		})
	}
}

// TestEachSenderMeetsWhatIsAsked: that it was posed to one is nothing to another.
func TestEachSenderMeetsWhatIsAsked(t *testing.T) {
	m := workspaceMachine(t)
	begin(t, m.e, request("cron-1-1", "", "hi"))
	m.r.next(t).start().ask("q1", "May I q1?")
	for _, id := range []string{"m2", "m3"} {
		req := request(id, "", "yes")
		req.Config.ReturnImmediately = true
		if id == "m3" {
			req.Metadata = map[string]any{"source": "canvas_user"}
		}
		wantStatus(t, send(t, m.e, req), a2a.TaskStateInputRequired, notTaken)
	}
}

// TestScheduleAsksOverARestart: the next process knows that the user has not been shown it.
func TestScheduleAsksOverARestart(t *testing.T) {
	m := workspaceMachine(t)
	task := begin(t, m.e, request("cron-1-1", "", "hi"))
	m.r.next(t).start().ask("q1", "May I q1?")
	m.restart()
	wantStatus(t, send(t, m.e, atOnce(task, "m2", "yes")), a2a.TaskStateInputRequired, notTaken, "May I q1?")
}

// TestKilledBeforeAnAnswerIsPosedAgain: the next process does not take an answer that was put off for
// a message to the model.
func TestKilledBeforeAnAnswerIsPosedAgain(t *testing.T) {
	for name, data := range map[string]any{"lapsed": nil, "another id": map[string]any{"id": "q9", "decision": "accept"}} {
		t.Run(name, func(t *testing.T) {
			m := workspaceMachine(t)
			m.change = append(m.change, func(c *tasks.Config) { c.Journal = &deafAfterAnswers{Journal: c.Journal} })
			m.restart()
			task := begin(t, m.e, request("m1", "", "hi"))
			j := m.r.next(t).start()
			j.ask("q1", "May I q1?")
			j.observe(agent.Answered{ID: "q1"})
			j.ask("q2", "May I q2?")
			answer := atOnce(task, "m2", "yes")
			if data != nil {
				answer = answerWith(task, "m2", data.(map[string]any))
			}
			send(t, m.e, answer)
			m.change = m.change[:1]
			m.restart()
			if m.r.count() != 0 {
				t.Fatalf("%d jobs of an answer that was put off", m.r.count())
			}
			wantStatus(t, get(t, m.e, task.ID), a2a.TaskStateInputRequired, "May I q2?")
			wantStatus(t, send(t, m.e, atOnce(task, "m3", "yes")), a2a.TaskStateInputRequired, notTaken, "May I q2?")
		})
	}
}

// A deafAfterAnswers is a journal of a process that is killed as soon as an answer is in it.
type deafAfterAnswers struct {
	tasks.Journal
	dead bool
}

func (d *deafAfterAnswers) Accept(ctx context.Context, m store.Message, h store.Head) error {
	err := d.Journal.Accept(ctx, m, h)
	d.dead = d.dead || m.Answers != nil
	return err
}

func (d *deafAfterAnswers) Write(ctx context.Context, c store.Change) error {
	if d.dead {
		return nil
	}
	return d.Journal.Write(ctx, c)
}

// TestSaidBeside: once the user is told something that is no reply, words are for nothing that was
// asked before, also over a restart.
func TestSaidBeside(t *testing.T) {
	m, task, j := askingMachine(t, time.Time{}, "q1")
	m.e.SaidToUser()
	wantStatus(t, send(t, m.e, atOnce(task, "m2", "yes")), a2a.TaskStateInputRequired, notTaken, "May I q1?")
	send(t, m.e, atOnce(task, "m3", "yes"))
	if got := m.asker.answered(); !strings.HasPrefix(got, "q1:") {
		t.Errorf("answered %q", got)
	}
	m.e.SaidToUser() // nothing is asked
	j.ask("q2", "May I q2?")
	m.e.SaidToUser()
	m.restart()
	wantStatus(t, send(t, m.e, atOnce(task, "m4", "yes")), a2a.TaskStateInputRequired, notTaken, "May I q2?")
}

// TestLapseOverARestart: the next process knows it, and does not carry the words either.
func TestLapseOverARestart(t *testing.T) {
	m, task, _ := lapse(t)
	m.restart()
	m.restart()
	wantStatus(t, send(t, m.e, atOnce(task, "m2", "yes")), a2a.TaskStateInputRequired, notTaken, "May I q2?")
	if m.r.count() != 0 {
		t.Fatalf("%d jobs of words that were not taken", m.r.count())
	}
	m.restart()
	wantStatus(t, get(t, m.e, task.ID), a2a.TaskStateInputRequired, "May I q2?")
	send(t, m.e, atOnce(task, "m3", "yes")) // it has been posed again
	j := m.r.next(t)
	if got := j.prompt(); !strings.Contains(got, "May I q2?") || !strings.HasSuffix(got, "yes") {
		t.Errorf("the new turn is given %q", got)
	}
	j.start().answer("done")
}
