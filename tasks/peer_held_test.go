package tasks_test

import (
	"encoding/json"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/late"
)

// TestRunnerKnowsWhatPeersSee: what an agent has sent, and what runs in a conversation of one,
// whoever has sent it.
func TestRunnerKnowsWhatPeersSee(t *testing.T) {
	d := newDesk(t)
	for name, c := range map[string]struct {
		meta  map[string]any
		given string
		peer  bool
	}{
		"user":               {nil, "", false},
		"platform":           {map[string]any{"source": "platform"}, "", false},
		"bob":                {by("bob"), "", true},
		"bob-on-the-canvas":  {by("bob"), "canvas-ws", true},
		"nameless":           {map[string]any{"delegation_id": "d"}, "", true},
		"user-in-bobs":       {nil, "peer:bob/x", true},
		"user-of-that-name":  {nil, "peers", false},
		"user-beside-canvas": {nil, "sess-1", false},
	} {
		d.call("m-"+name, c.given, c.meta, "hi")
		j := d.r.next(t)
		if j.observe(finished("hello")); j.Peer != c.peer {
			t.Errorf("%s: an agent's is %v", name, j.Peer)
		}
	}
	d.call("m1", "peer:eve/y", by("eve"), "hi")
	waits := d.r.next(t)
	if _, err := d.e.SendMessage(t.Context(), &a2a.SendMessageRequest{Message: &a2a.Message{
		ID: "m2", TaskID: tasks.TaskOf(waits.ID), Role: a2a.MessageRoleUser, Parts: a2a.ContentParts{a2a.NewTextPart("and this")},
	}, Config: &a2a.SendMessageConfig{ReturnImmediately: true}}); err != nil {
		t.Fatal(err)
	}
	if j := d.r.next(t); !j.Peer {
		t.Error("a message of the user's in an agent's task is not known for one that the agent sees")
	}
}

// TestPeersStayPeersOverARestart.
func TestPeersStayPeersOverARestart(t *testing.T) {
	m := newMachine(t, func(c *tasks.Config) { c.Main, c.Workspace = "canvas-ws", &tasks.Workspace{} })
	bobs := request("m1", "", "hi")
	bobs.Metadata = by("bob")
	begin(t, m.e, bobs)
	begin(t, m.e, request("m2", "", "hi"))
	for range 2 {
		peers := 0
		for range 2 {
			if m.r.next(t).Peer {
				peers++
			}
		}
		if peers != 1 {
			t.Errorf("%d of two jobs are another agent's", peers)
		}
		m.restart()
	}
}

// TestPeersAreNoPeersStandingAlone, where nobody says who speaks.
func TestPeersAreNoPeersStandingAlone(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	req := request("m1", "peer:bob", "hi")
	req.Metadata = by("bob")
	begin(t, e, req)
	if r.next(t).Peer {
		t.Error("a job is another agent's where there are none")
	}
}

// TestUserIsToldOfAPeersLogin on the canvas, once, and without what only the answer to the
// user has.
func TestUserIsToldOfAPeersLogin(t *testing.T) {
	d := newDesk(t, func(c *tasks.Config) { c.Workspace.Wake = func() {} })
	for _, id := range []string{"m1", "m2"} {
		c := d.call(id, "", by("bob"), "hi")
		j := d.r.next(t)
		j.observe(agent.Paused{Kind: agent.FailAuth, Text: "for agents"})
		c.wait(t)
		wantTask(t, c.task, a2a.TaskStateAuthRequired, "for agents")
		rows := d.owed()
		if len(rows) != 1 || !d.due() {
			t.Fatalf("%s: the user is owed %+v", id, rows)
		}
		row, err := d.st.Delivery(t.Context(), rows[0].ID)
		var said late.Reply
		if err != nil || json.Unmarshal(row.Body, &said) != nil || said.Text != tasks.PeerWaits {
			t.Errorf("%s: the user is owed %s, %v", id, row.Body, err)
		}
	}
}
