package tasks_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/late"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/reply"
)

// A desk is an engine that works for the workspace ws, on a store.
type desk struct {
	t  *testing.T
	e  *tasks.Engine
	st *store.Store
	r  *steering
}

// steering is a runner whose running turns take messages.
type steering struct {
	*runner
	steered []string
	into    []string // the jobs whose turns they went into

	answering sync.Mutex // guards answered
	answered  []string
}

func (s *steering) Answer(_ string, a agent.Answer) error {
	s.answering.Lock()
	defer s.answering.Unlock()
	s.answered = append(s.answered, a.Text)
	return nil
}

func (s *steering) answers() int {
	s.answering.Lock()
	defer s.answering.Unlock()
	return len(s.answered)
}

func (s *steering) Steer(into string, j executor.Job, observe executor.Observer) error {
	s.steered, s.into = append(s.steered, j.ID), append(s.into, into)
	observe(agent.Steered{})
	return nil
}

func newDesk(t *testing.T, change ...func(*tasks.Config)) *desk {
	d := &desk{t: t, r: &steering{runner: newRunner()}}
	var err error
	if d.st, err = store.Open(t.Context(), store.Config{Dir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	d.e = newEngine(t, d.r, append([]func(*tasks.Config){func(c *tasks.Config) {
		c.Journal, c.Main, c.Workspace = d.st, "canvas-ws", &tasks.Workspace{Steer: true}
	}}, change...)...)
	t.Cleanup(func() { _ = d.st.Close() })
	return d
}

// A call is a message whose sender waits.
type call struct {
	cancel  context.CancelFunc
	receipt *tasks.Receipt
	done    chan struct{}
	task    *a2a.Task
	said    *a2a.Message
	err     error
}

func (d *desk) call(id, contextID string, meta map[string]any, text string) *call {
	ctx, cancel := context.WithCancel(tasks.WithV0(d.t.Context()))
	c := &call{cancel: cancel, done: make(chan struct{})}
	ctx, c.receipt = tasks.WithReceipt(ctx)
	req := &a2a.SendMessageRequest{Metadata: meta, Message: &a2a.Message{
		ID: id, ContextID: contextID, Role: a2a.MessageRoleUser, Parts: a2a.ContentParts{a2a.NewTextPart(text)},
	}}
	go func() {
		defer close(c.done)
		var res a2a.SendMessageResult
		if res, c.err = d.e.SendMessage(ctx, req); c.err == nil {
			c.task, _ = res.(*a2a.Task)
			c.said, _ = res.(*a2a.Message)
		}
	}()
	d.t.Cleanup(cancel)
	return c
}

func (c *call) wait(t *testing.T) {
	t.Helper()
	select {
	case <-c.done:
	case <-time.After(time.Minute):
		t.Fatal("the call has not returned")
	}
}

// leave has the caller go away.
func (c *call) leave(t *testing.T) {
	c.cancel()
	c.wait(t)
	c.receipt.Settle(false)
}

func (d *desk) owed() []store.Delivery {
	d.t.Helper()
	rows, err := d.st.Deliveries(d.t.Context(), late.Kind, 0, 10)
	if err != nil {
		d.t.Fatal(err)
	}
	return rows
}

func (d *desk) due() bool {
	rows := d.owed()
	return len(rows) == 1 && !rows[0].Due.After(time.Now())
}

func finished(text string) agent.Ended {
	return agent.Ended{Outcome: agent.Completed, Messages: []agent.Message{{ItemID: "m", Text: text}}}
}

func begun(j *job) { j.observe(agent.Started{ThreadID: "th", TurnID: "tu", Attempt: 1}) }

func TestReplyIsOwedUntilItArrives(t *testing.T) {
	d := newDesk(t)
	c := d.call("m1", "", nil, "hi")
	j := d.r.next(t)
	begun(j)
	j.observe(finished("hello"))
	c.wait(t)
	if rows := d.owed(); len(rows) != 1 || !rows[0].Due.After(time.Now().Add(30*time.Second)) {
		t.Fatalf("while the answer is on its way: %+v", rows)
	}
	c.receipt.Settle(true)
	if rows := d.owed(); len(rows) != 0 {
		t.Errorf("after it has arrived: %+v", rows)
	}
	c.receipt.Settle(false)
	if rows := d.owed(); len(rows) != 0 {
		t.Errorf("said twice: %+v", rows)
	}
}

func TestMainConversation(t *testing.T) {
	d := newDesk(t)
	for given, want := range map[string]string{"": "canvas-ws", "canvas-ws": "canvas-ws", "canvas-other": "canvas-other", "sess-1": "sess-1"} {
		c := d.call("m"+given, given, nil, "hi")
		j := d.r.next(t)
		if j.Context != want {
			t.Errorf("%q runs in %q, want %q", given, j.Context, want)
		}
		j.observe(finished("hello"))
		c.wait(t)
		if c.task == nil || c.task.ContextID != want {
			t.Errorf("%q is answered in %+v", given, c.task)
		}
		c.receipt.Settle(true)
	}
}

// TestUserSteers has a message of the user's go into the turn that runs, and one of
// another agent wait. The user is told at once, and the answer comes to the first.
func TestUserSteers(t *testing.T) {
	d := newDesk(t)
	first := d.call("m1", "", nil, "hi")
	j := d.r.next(t)
	begun(j)
	second := d.call("m2", "canvas-ws", map[string]any{"source": "canvas_user"}, "and that")
	second.wait(t)
	if second.err != nil || len(d.r.steered) != 1 || second.task.ContextID != "canvas-ws" {
		t.Fatalf("%+v, %v, steered %v", second.task, second.err, d.r.steered)
	}
	if text := reply.Of(second.task).Parts[0].Text(); !strings.Contains(text, "Got your message") {
		t.Errorf("the user is told %q", text)
	}
	second.receipt.Settle(true)
	d.call("m3", "", map[string]any{"delegation_id": "m3"}, "mine")
	if waits := d.r.next(t); !strings.HasPrefix(waits.Context, "peer:?/") || len(d.r.steered) != 1 {
		t.Errorf("that of an agent: %+v, steered %v", waits.Job, d.r.steered)
	}
	d.call("m4", "", nil, "who knows who I am")
	if waits := d.r.next(t); waits.Context != "canvas-ws" || len(d.r.steered) != 1 {
		t.Errorf("that of nobody in particular: %+v, steered %v", waits.Job, d.r.steered)
	}
	j.observe(agent.Ended{Outcome: agent.Completed, Taken: []string{d.r.steered[0]}, Messages: []agent.Message{{ItemID: "m", Text: "both"}}})
	first.wait(t)
	first.receipt.Settle(true)
	if rows := d.owed(); len(rows) != 0 {
		t.Errorf("owed = %+v", rows)
	}
}

// TestCircle: an agent asks back while a turn waits for an agent: the user's, of which that
// agent may not even say who it is, and one of its own.
func TestCircle(t *testing.T) {
	for name, c := range map[string]struct {
		first, back map[string]any
		in, aside   string
	}{
		"user":     {nil, map[string]any{"delegation_id": "m2"}, "canvas-ws", "peer:?/"},
		"its-own":  {map[string]any{"source_workspace_id": "bob"}, map[string]any{"source_workspace_id": "bob"}, "peer:bob", "peer:bob/aside/"},
		"unmarked": {nil, nil, "canvas-ws", "canvas-ws/aside/"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.call("m1", "", c.first, "hi")
			j := d.r.next(t)
			begun(j)
			call := agent.Item{Kind: agent.KindTool, ID: "i", Tool: "delegate_task"}
			j.observe(agent.ItemStarted{Item: call})
			asking := d.call("m2", "", c.back, "tell me first")
			aside := d.r.next(t)
			if j.Context != c.in || !strings.HasPrefix(aside.Context, c.aside) {
				t.Fatalf("in %q the delegation waits in %q", j.Context, aside.Context)
			}
			aside.observe(finished("told"))
			asking.wait(t)
			if text := reply.Of(asking.task).Parts[0].Text(); text != "told" {
				t.Errorf("answered %q", text)
			}
			j.observe(agent.ItemCompleted{Item: call})
			d.call("m3", "", c.first, "and now")
			if after := d.r.next(t); after.Context != c.in {
				t.Errorf("when nothing waits any more: %q", after.Context)
			}
		})
	}
}

func TestRestartContext(t *testing.T) {
	d := newDesk(t)
	c := d.call("m1", "", map[string]any{"source": "platform", "kind": "restart_context", "layer": 1.0, "restart_context": true}, "=== WORKSPACE RESTART CONTEXT ===")
	c.wait(t)
	if c.err != nil || !strings.Contains(reply.Of(c.task).Parts[0].Text(), "back after its restart") {
		t.Errorf("%+v, %v", c.task, c.err)
	}
	if n := len(d.r.jobs); n != 0 {
		t.Errorf("%d turns", n)
	}
}

func TestBlankInAWorkspace(t *testing.T) {
	d := newDesk(t)
	c := d.call("m1", "sess-1", nil, " \n")
	c.wait(t)
	if c.said == nil || c.said.Parts[0].Text() != "Your message was empty. Please send text or a file with instructions." || c.said.ContextID != "sess-1" {
		t.Errorf("%+v, %v", c.said, c.err)
	}
}

// TestAgentsDoNotAnswer what the user is asked.
func TestAgentsDoNotAnswer(t *testing.T) {
	d := newDesk(t)
	first := d.call("m1", "", map[string]any{"source": "canvas_user"}, "hi")
	j := d.r.next(t)
	begun(j)
	j.observe(agent.Question{ID: "q", Kind: "command", Text: "may I?"})
	first.wait(t) // the user has been shown the question
	d.call("m2", "", map[string]any{"delegation_id": "m2"}, "yes")
	if other := d.r.next(t); len(d.r.answered) != 0 || other.ID == j.ID {
		t.Errorf("answered: %v", d.r.answered)
	}
	d.call("m3", "", map[string]any{"source": "canvas_user"}, "yes")
	for deadline := time.Now().Add(time.Minute); d.r.answers() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the user's answer does not arrive")
		}
	}
}

// TestAdoptedAcrossContexts answers each sender in his own context.
func TestAdoptedAcrossContexts(t *testing.T) {
	d := newDesk(t, func(c *tasks.Config) { c.Threads = func(string, string) string { return "one" } })
	first := d.call("m1", "a", nil, "hi")
	j := d.r.next(t)
	begun(j)
	second := d.call("m2", "b", map[string]any{"source": "canvas_user"}, "and that")
	second.wait(t)
	if second.task == nil || second.task.ContextID != "b" {
		t.Fatalf("%+v, %v", second.task, second.err)
	}
	// With the taskId of that answer, and the sender's own contextId.
	third := &a2a.SendMessageRequest{
		Message: &a2a.Message{ID: "m3", ContextID: "b", TaskID: second.task.ID, Role: a2a.MessageRoleUser, Parts: a2a.ContentParts{a2a.NewTextPart("more")}},
		Config:  &a2a.SendMessageConfig{ReturnImmediately: true},
	}
	if _, err := d.e.SendMessage(t.Context(), third); err != nil {
		t.Errorf("a message to that task: %v", err)
	}
	j.observe(agent.Ended{Outcome: agent.Completed, Taken: d.r.steered, Messages: []agent.Message{{ItemID: "m", Text: "all"}}})
	first.wait(t)
	if first.task.ContextID != "a" {
		t.Errorf("the first is answered in %q", first.task.ContextID)
	}
}

func TestToolTrace(t *testing.T) {
	d := newDesk(t, func(c *tasks.Config) {
		c.Workspace.Redact = func(s string) string {
			if len(s) > 65<<10 {
				t.Errorf("%d bytes are looked through under the lock", len(s))
			}
			return strings.ReplaceAll(s, "secret", "[REDACTED]")
		}
	})
	c := d.call("m1", "", nil, "hi")
	j := d.r.next(t)
	begun(j)
	for range 210 {
		j.observe(agent.ItemCompleted{Item: agent.Item{
			Kind: agent.KindCommand, ID: "i", Command: "echo secret " + strings.Repeat("x", 600), Output: "secret" + strings.Repeat("y", 100<<10),
		}})
	}
	j.observe(finished("hello"))
	c.wait(t)
	trace, _ := reply.Of(c.task).Metadata["tool_trace"].([]any)
	if len(trace) != 200 {
		t.Fatalf("%d tools", len(trace))
	}
	first := trace[0].(map[string]any)
	if first["tool"] != "command_execution" || len(first["input"].(string)) > 500 || len(first["output_preview"].(string)) > 300 ||
		strings.Contains(first["input"].(string)+first["output_preview"].(string), "secret") || !strings.HasPrefix(first["input"].(string), "echo [REDACTED]") {
		t.Errorf("trace = %v", first)
	}
	c.receipt.Settle(true)
}
