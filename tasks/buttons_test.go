package tasks_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/requests"
)

// buttoned is a workspace whose user has buttons.
func buttoned(t *testing.T) *machine {
	t.Helper()
	m := workspaceMachine(t)
	m.change = append(m.change, func(c *tasks.Config) {
		c.Workspace.Requests = func() {}
		c.Workspace.Redact = func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") }
	})
	m.restart()
	return m
}

// pose has the turn ask something of a kind.
func (j *job) pose(id, kind, text string, choices ...any) {
	data := map[string]any{"type": "question", "id": id, "kind": kind, "choices": choices}
	j.observe(agent.Question{ID: id, Kind: kind, Text: text, Accepts: "Answer yes or no.", Data: data})
}

// requested are the requests to the user, by their questions.
func (m *machine) requested() map[string]requests.Request {
	m.t.Helper()
	rows, err := m.st.Deliveries(m.t.Context(), requests.Kind, 0, 100)
	out := map[string]requests.Request{}
	for _, row := range rows {
		var whole store.Delivery
		if whole, err = m.st.Delivery(m.t.Context(), row.ID); err == nil {
			var r requests.Request
			r, err = requests.Decode(whole.Body)
			out[r.Question] = r
		}
	}
	if err != nil {
		m.t.Fatal(err)
	}
	return out
}

// up has the request of a question stand on the canvas under a name.
func (m *machine) up(question, name string) int64 {
	m.t.Helper()
	rows, err := m.st.Deliveries(m.t.Context(), requests.Kind, 0, 100)
	for _, row := range rows {
		whole, _ := m.st.Delivery(m.t.Context(), row.ID)
		if r, _ := requests.Decode(whole.Body); r.Question == question {
			if err = m.st.AimDelivery(m.t.Context(), row.ID, requests.Sent(name)); err == nil {
				return row.ID
			}
		}
	}
	m.t.Fatalf("no request for %s: %v", question, err)
	return 0
}

// TestWhatHasButtons: what two of them answer, and is the user's to answer.
func TestWhatHasButtons(t *testing.T) {
	m := buttoned(t)
	j := func(meta map[string]any, id, contextID string) *job {
		req := request(id, contextID, "hi")
		req.Message.Metadata = meta
		begin(t, m.e, req)
		return m.r.next(t).start()
	}
	both := []any{agent.Accept, agent.AcceptForSession, agent.Decline, agent.Cancel}
	user := j(map[string]any{"source": "canvas_user"}, "m1", "")
	user.pose("command", "command", "May I run hunter2?", both...)
	user.pose("link", "link", "Open it.", both...)
	user.pose("input", "input", "Which?", agent.Decline)
	user.pose("form", "form", "Fill it in.", both...)
	user.pose("no-yes", "permissions", "May I?", agent.Decline)
	user.pose("long", "command", strings.Repeat("x", 5000), both...)
	user.pose("unknown", "else", "May I?", both...)
	own := j(map[string]any{"source_type": "self-idle"}, "m2", "another")
	own.pose("own-elsewhere", "command", "May I?", both...)
	bob := j(by("bob"), "m3", "")
	bob.pose("bobs", "command", "May I?", both...)
	users := j(map[string]any{"source": "canvas_user"}, "m4", "peer:bob/x")
	users.pose("users-in-bobs", "command", "May I?", both...)
	got := m.requested()
	if len(got) != 2 || got["command"].Title == "" || got["link"].Title == "" || !strings.HasPrefix(got["command"].Detail, "May I run ***?\n\n") {
		t.Errorf("requested are %+v", got)
	}
}

// pressed is a message that tells of a decision.
func pressed(id, text string, meta map[string]any) *a2a.SendMessageRequest {
	req := request(id, "", text)
	req.Metadata = meta
	req.Config = &a2a.SendMessageConfig{ReturnImmediately: true}
	return req
}

const name = "0b4cf1ae-7c3c-4a8e-9a55-2f3f4f1f7a01"

// TestPress answers the question that the request is about, whatever has been asked since, and is not
// taken from others.
func TestPress(t *testing.T) {
	m := buttoned(t)
	begin(t, m.e, request("m1", "canvas-ws", "hi"))
	j := m.r.next(t).start()
	j.pose("q1", "command", "May I q1?", agent.Accept, agent.Decline)
	j.pose("q2", "command", "May I q2?", agent.Accept, agent.Decline)
	m.up("q2", name)
	said := "Request " + name + " was approved."
	for who, meta := range map[string]map[string]any{
		"peer": by("bob"), "delegation": {"delegation_id": "d"}, "chat": {"source": "slack", "chat_id": "c"},
		"own": {"source_type": "self-delegation-results"}, "service": {"source": "github"},
	} {
		if _, err := m.e.SendMessage(t.Context(), pressed("p-"+who, said, meta)); err != nil {
			t.Fatal(err)
		}
		if got := m.asker.answered(); got != "" {
			t.Errorf("%s answers %q", who, got)
		}
	}
	press := pressed("p1", said, map[string]any{"source": "platform"})
	task := send(t, m.e, press)
	if got := m.asker.answered(); !strings.Contains(got, "q2:") || strings.Contains(got, "q1:") {
		t.Errorf("answered %q", got)
	}
	if last := m.asker.answers[0].Data.(map[string]any); last["decision"] != agent.Accept {
		t.Errorf("answered with %v", last)
	}
	if again := send(t, m.e, press); again.ID != task.ID || len(m.asker.answers) != 1 {
		t.Errorf("sent again it is of task %s, and there are %d answers", again.ID, len(m.asker.answers))
	}
	late := pressed("p2", said, map[string]any{"source": "platform"})
	late.Config = nil // its sender waits for the answer
	settled := send(t, m.e, late)
	if text, _ := json.Marshal(settled); settled.ID == task.ID || !strings.Contains(string(text), "settled already") || len(m.asker.answers) != 1 {
		t.Errorf("a second press is %s", text)
	}
}

// TestPressOfAService counts by what the platform says, not by the service's words, for whatever conversation it is.
func TestPressOfAService(t *testing.T) {
	m := buttoned(t)
	begin(t, m.e, request("m1", "elsewhere", "hi"))
	j := m.r.next(t).start()
	j.pose("q1", "command", "May I q1?", agent.Accept, agent.Decline)
	m.up("q1", name)
	send(t, m.e, pressed("p1", "approved "+name, map[string]any{"source": "requests", "request_id": name, "decision": "denied"}))
	if len(m.asker.answers) != 1 || m.asker.answers[0].Data.(map[string]any)["decision"] != agent.Decline {
		t.Errorf("answered %+v", m.asker.answers)
	}
}

// TestDecideOverARestart: the button of a question that lost its turn begins one that carries it, and
// says which of several is meant; given twice it is one.
func TestDecideOverARestart(t *testing.T) {
	m := buttoned(t)
	task := begin(t, m.e, request("m1", "canvas-ws", "hi"))
	j := m.r.next(t).start()
	j.pose("q1", "command", "May I q1?", agent.Accept, agent.Decline)
	j.pose("q2", "command", "May I q2?", agent.Accept, agent.Decline)
	m.restart()
	if asked, err := m.st.Asked(t.Context(), string(task.ID), "q2"); !asked || err != nil {
		t.Errorf("q2 is asked: %t, %v", asked, err)
	}
	if err := m.e.Decide(t.Context(), string(task.ID), "q2", "request-x", false); err != nil {
		t.Fatal(err)
	}
	got := m.r.next(t).Input[0].Text
	if !strings.Contains(got, "Your question 2:\n") || !strings.Contains(got, "May I q2?") || !strings.HasSuffix(got, "answer, to question 2 alone:") {
		t.Errorf("the turn carries %q", got)
	}
	if err := m.e.Decide(t.Context(), string(task.ID), "q2", "request-x", false); err == nil {
		t.Error("what is answered can be answered again")
	}
}

// TestPressInAnotherWorkspace: the user of one has no part in what is asked in another of the same channel.
func TestPressInAnotherWorkspace(t *testing.T) {
	m := buttoned(t)
	m.change = append(m.change, func(c *tasks.Config) {
		c.Workspace.Of = func(conversation string) int { return strings.Index("ab", conversation[:1]) }
	})
	m.restart()
	begin(t, m.e, request("m1", "a-canvas", "hi"))
	m.r.next(t).start().pose("q1", "command", "May I q1?", agent.Accept, agent.Decline)
	m.up("q1", name)
	for i, in := range []string{"b-canvas", "none", "a-other"} {
		press := pressed("p"+in, "Request "+name+" was approved.", map[string]any{"source": "platform"})
		press.Message.ContextID = in
		if _, err := m.e.SendMessage(t.Context(), press); err != nil {
			t.Fatal(err)
		}
		if got := m.asker.answered(); (got != "") != (i == 2) {
			t.Errorf("a press in %s answers %q", in, got)
		}
	}
}

// TestTimeIsUp: that decides nothing, and has the request put up again; so does nothing that is about two.
func TestTimeIsUp(t *testing.T) {
	m := buttoned(t)
	woken := make(chan bool, 100)
	m.change = append(m.change, func(c *tasks.Config) { c.Workspace.Requests = func() { woken <- true } })
	m.restart()
	begin(t, m.e, request("m1", "canvas-ws", "hi"))
	j := m.r.next(t).start()
	j.pose("q1", "command", "May I q1?", agent.Accept, agent.Decline)
	j.pose("q2", "command", "May I q2?", agent.Accept, agent.Decline)
	const other = "1" + name
	row := m.up("q1", name)
	m.up("q2", other)
	for len(woken) > 0 {
		<-woken
	}
	both := pressed("p1", "x", map[string]any{"source": "platform", "request_id": name, "decision": "approved", "more": map[string]any{"request_id": other, "decision": "approved"}})
	if _, err := m.e.SendMessage(t.Context(), both); err != nil || m.asker.answered() != "" {
		t.Errorf("one about two answers %q, %v", m.asker.answered(), err)
	}
	over := pressed("p2", "x", map[string]any{"source": "platform", "request_id": name, "status": "denied", "decided_by": "auto-expired"})
	over.Config = nil
	text, _ := json.Marshal(send(t, m.e, over))
	up, err := m.st.Delivery(t.Context(), row)
	if err != nil || up.Target != "" || up.Tries != 1 || len(woken) == 0 || m.asker.answered() != "" || !strings.Contains(string(text), "still open") {
		t.Errorf("it is up at %q after %d tries, %v, and answered with %s", up.Target, up.Tries, err, text)
	}
}
