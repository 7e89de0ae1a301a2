package codex_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
)

// twoCommands has codex ask for two commands at once.
func twoCommands(t *fakemodel.Turn) {
	outputs := t.NewToolOutputs()
	if len(outputs) == 0 {
		t.Call("exec_command", fakemodel.Escalated("echo ran-one"))
		t.Call("exec_command", fakemodel.Escalated("echo ran-two"))
		return
	}
	var all strings.Builder
	for _, o := range outputs {
		all.WriteString(o.Text)
	}
	t.Say(all.String())
}

func TestTwoQuestionsInOneTurn(t *testing.T) {
	t.Parallel()
	e := onCodex(t, modeltest.Start(t, twoCommands), asks())
	w := submit(t, e, "j1", "one", "go")
	two, one := w.asked(t, 2), w.asked(t, 1)
	if strings.Contains(two.Text, "ran-one") { // each comes on a goroutine of its own
		one, two = two, one
	}
	if one.ID == two.ID || !strings.Contains(one.Text, "ran-one") || !strings.Contains(two.Text, "ran-two") {
		t.Fatalf("asked %+v and %+v", one, two)
	}
	mustReply(t, e, "j1", two, "yes")
	mustReply(t, e, "j1", one, "no")
	end := w.wait(t)
	if text := said(end); !strings.Contains(text, "rejected by user") || !strings.Contains(text, "ran-two") || strings.Contains(text, "\nran-one") {
		t.Errorf("the model is told %q", text)
	}
}

// TestTooManyQuestionsInOneContext declines those that are too many, as codex expects it, and says
// so in the task and in the log.
func TestTooManyQuestionsInOneContext(t *testing.T) {
	t.Parallel()
	const asked, most = 6, 2
	model := modeltest.Start(t, func(t *fakemodel.Turn) {
		outputs := t.NewToolOutputs()
		for i := range asked * (1 - min(1, len(outputs))) {
			t.Call("exec_command", fakemodel.Escalated(fmt.Sprintf("echo ran-%d", i)))
		}
		var all strings.Builder
		for _, o := range outputs {
			all.WriteString(o.Text + "\n")
		}
		if len(outputs) > 0 {
			t.Say(all.String())
		}
	})
	log := &lockedBuffer{}
	e := onCodex(t, model, func(c *config) {
		asks()(c)
		c.MaxAsked, c.Logger = most, slog.New(slog.NewTextHandler(log, nil))
	})
	w := submit(t, e, "j1", "one", "go")
	two, one := w.asked(t, 2), w.asked(t, 1)
	declined := func(w *witness) (n int) {
		for _, notice := range seen[agent.Notice](w) {
			var some, bound int
			if _, err := fmt.Sscanf(notice.Text, "Questions that were declined, for too many are open in this context already: %d. At most %d may", &some, &bound); err == nil && bound == most {
				n += some
			}
		}
		return n
	}
	eventually(t, "the others to be declined", func() bool { return declined(w) == asked-most })
	if open := e.Health().Questions; open != most {
		t.Errorf("%d questions are open", open)
	}
	mustReply(t, e, "j1", two, "yes")
	mustReply(t, e, "j1", one, "yes")
	text := said(w.wait(t))
	if rejected, ran := strings.Count(text, "rejected by user"), strings.Count(text, "\nran-"); rejected != asked-most || ran != most {
		t.Errorf("%d were rejected, %d ran: %q", rejected, ran, text)
	}
	if n := strings.Count(log.String(), "RUNTIME_MAX_CONTEXT_QUESTIONS"); n != asked-most {
		t.Errorf("the log says it %d times", n)
	}
	again := submit(t, e, "j2", "one", "go") // what was open is open no more
	eventually(t, "as many to be declined", func() bool { return declined(again) == asked-most })
	for i := range most {
		mustReply(t, e, "j2", again.asked(t, i+1), "no")
	}
	again.wait(t)
}

// TestTenWrongAnswers leaves the turn waiting for the eleventh.
func TestTenWrongAnswers(t *testing.T) {
	t.Parallel()
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), asks())
	w := submit(t, e, "j1", "one", "escalate echo ran")
	q := w.asked(t, 1)
	for _, answer := range []string{
		"", "perhaps", "yes and no", "yes, but later", `{}`, `{"decision":"perhaps"}`, `{"decision":7}`, `{"answers":{"a":"b"}}`,
		`{"decision":{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["rm"]}}}`, `{"action":"maybe","content":{}}`,
	} {
		if _, ok := errors.AsType[*agent.NotUnderstoodError](reply(t, e, "j1", q, answer)); !ok {
			t.Errorf("%q was taken for an answer", answer)
		}
	}
	if err := reply(t, e, "j1", agent.Question{ID: "another"}, "yes"); !errors.Is(err, executor.ErrNotAsked) {
		t.Errorf("an answer to what was not asked: %v", err)
	}
	mustReply(t, e, "j1", q, "yes")
	if err := reply(t, e, "j1", q, "yes"); !errors.Is(err, executor.ErrNotAsked) {
		t.Errorf("the same answer again: %v", err)
	}
	if end := w.wait(t); end.Outcome != agent.Completed || !strings.Contains(said(end), "ran") {
		t.Errorf("end = %+v", end)
	}
	wantAlive(t, e, "one")
}

func TestQuestionExpires(t *testing.T) {
	t.Parallel()
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), func(c *config) {
		asks()(c)
		c.QuestionTTL = 200 * time.Millisecond
	})
	w := submit(t, e, "j1", "one", "escalate echo ran")
	q := w.asked(t, 1)
	if at, err := time.Parse(time.RFC3339, fmt.Sprint(q.Data["deadline"])); err != nil || q.Deadline.Sub(at).Abs() > time.Second {
		t.Errorf("deadline %v in the data, %s in the event: %v", q.Data["deadline"], q.Deadline, err)
	}
	end := w.wait(t)
	if end.Outcome != agent.Completed || !strings.Contains(said(end), "rejected by user") {
		t.Errorf("end = %+v", end)
	}
	if told := seen[agent.Answered](w); len(told) != 1 || told[0].ID != q.ID || !strings.Contains(told[0].Note, "CODEX_QUESTION_TTL") {
		t.Errorf("told %+v", told)
	}
	wantAlive(t, e, "one")
}

func TestCancelWithAnOpenQuestion(t *testing.T) {
	t.Parallel()
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), asks())
	w := submit(t, e, "j1", "one", "escalate echo ran")
	q := w.asked(t, 1)
	pid := e.Health().Child.Pid
	if err := e.Cancel(t.Context(), "j1"); err != nil {
		t.Fatal(err)
	}
	if end := w.wait(t); end.Outcome != agent.Canceled {
		t.Errorf("end = %+v", end)
	}
	if err := reply(t, e, "j1", q, "yes"); !errors.Is(err, executor.ErrNotAsked) {
		t.Errorf("an answer after the cancel: %v", err)
	}
	wantAlive(t, e, "one")
	if now := e.Health().Child.Pid; now != pid {
		t.Error("codex was restarted over it")
	}
}

// TestCodexDiesWithAnOpenQuestion asks again, under another id, where no tool
// was under way, and ends the job where one may have been.
func TestCodexDiesWithAnOpenQuestion(t *testing.T) {
	t.Parallel()
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), asks("-c", "features.default_mode_request_user_input=true"))
	w := submit(t, e, "j1", "one", userInput)
	before := w.asked(t, 1)
	_ = syscall.Kill(e.Health().Child.Pid, syscall.SIGKILL)
	end := w.wait(t)
	if end.Outcome != agent.Interrupted { // codex's own file shows the call
		t.Errorf("end = %+v", end)
	}
	if err := reply(t, e, "j1", before, "1"); !errors.Is(err, executor.ErrNotAsked) {
		t.Errorf("an answer to a dead codex: %v", err)
	}
	w = submit(t, e, "j2", "one", "escalate echo ran")
	if after := w.asked(t, 1); after.ID == before.ID {
		t.Errorf("the id %s was given twice", after.ID)
	}
	_ = syscall.Kill(e.Health().Child.Pid, syscall.SIGKILL)
	wantEnd(t, w.wait(t), agent.Interrupted, agent.FailUnreachable)
	wantAlive(t, e, "one")
}

// TestNobodyToAsk leaves nothing open under the policy never.
func TestNobodyToAsk(t *testing.T) {
	t.Parallel()
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), func(c *config) {
		asks("-c", "features.default_mode_request_user_input=true")(c)
		unattended(c)
	})
	w := submit(t, e, "j1", "one", userInput)
	if end := w.wait(t); said(end) != `{"answers":{}}` || len(seen[agent.Question](w)) != 0 {
		t.Errorf("end = %+v, asked %d times", end, len(seen[agent.Question](w)))
	}
}

// A notifier is a log that closes asked at the first question.
type notifier struct {
	slog.Handler
	asked chan struct{}
	once  *sync.Once
}

func (n notifier) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "codex asks" {
		n.once.Do(func() { close(n.asked) })
	}
	return n.Handler.Handle(ctx, r)
}

// TestQuestionWaitsForItsItem: a turn that hears of the question before it has
// read what codex has said about it still shows the files.
func TestQuestionWaitsForItsItem(t *testing.T) {
	t.Parallel()
	log := notifier{asked: make(chan struct{}), once: &sync.Once{}}
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), func(c *config) {
		asks()(c)
		c.Thread.Sandbox = agent.ReadOnly
		log.Handler = c.Logger.Handler()
		c.Logger = slog.New(log)
	})
	w := &witness{ended: make(chan agent.Ended, 1)}
	job := executor.Job{ID: "j1", Context: "one", Input: []agent.Input{agent.Text("patch new.txt")}}
	_, err := e.Submit(job, func(event agent.Event) {
		if _, ok := event.(agent.Started); ok {
			select {
			case <-log.asked:
			case <-time.After(patience):
			}
		}
		w.observe(event)
	})
	if err != nil {
		t.Fatal(err)
	}
	q := w.asked(t, 1)
	if changes, _ := q.Data["changes"].([]any); len(changes) != 1 {
		t.Errorf("asked %+v", q)
	}
	mustReply(t, e, "j1", q, "no")
	w.wait(t)
}

// TestSubagentAsks puts its question to the turn that it works for.
func TestSubagentAsks(t *testing.T) {
	t.Parallel()
	spawn, _ := json.Marshal(map[string]any{"task_name": "sub", "message": "do it"})
	model := modeltest.Start(t, func(t *fakemodel.Turn) {
		outputs := t.NewToolOutputs()
		sub := t.FromSubagent()
		switch {
		case sub && len(outputs) == 0:
			t.Call("exec_command", fakemodel.Escalated("echo ran-by-sub"))
		case sub:
			t.Say("sub is done: " + outputs[0].Text)
		case len(outputs) == 0:
			t.CallIn("collaboration", "spawn_agent", string(spawn))
		case len(outputs) == 1:
			t.CallIn("collaboration", "wait_agent", `{"timeout_ms":30000}`)
		default:
			t.Say("waited")
		}
	})
	e := onCodex(t, model, asks())
	w := submit(t, e, "j1", "one", "go")
	q := w.asked(t, 1)
	if !strings.Contains(q.Text, "ran-by-sub") {
		t.Errorf("asked %+v", q)
	}
	mustReply(t, e, "j1", q, "yes")
	if end := w.wait(t); end.Outcome != agent.Completed || said(end) != "waited" {
		t.Errorf("end = %+v", end)
	}
	eventually(t, "the subagent to be told", func() bool {
		for _, r := range model.Requests() {
			if strings.Contains(string(r.Body), "ran-by-sub\\n") {
				return true
			}
		}
		return false
	})
}
