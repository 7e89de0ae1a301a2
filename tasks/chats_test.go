package tasks_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/peerwords"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/reply"
)

// chat are the marks of a chat, as the platform sends them: it has a history as the canvas has.
func chat(id any) map[string]any {
	return map[string]any{"source": "slack", "chat_id": id, "user_id": "U6", "history": []any{}}
}

// TestChatsHaveTheirOwnConversations, whatever context they name.
func TestChatsHaveTheirOwnConversations(t *testing.T) {
	d := newDesk(t)
	for i, c := range []struct {
		meta          map[string]any
		given, within string
	}{
		{chat("C0"), "", "chat:slack/C0"},
		{map[string]any{"source": "telegram", "chat_id": -1001234567890.0}, "", "chat:telegram/-1001234567890"},
		{chat(" C0 "), "canvas-ws", "chat:slack/C0"},
		{chat("C0"), "sess-1", "chat:slack/C0/sess-1"},
		{chat("C0"), "chat:slack/C00", "chat:slack/C0/chat:slack/C00"},
		{chat("C0"), "peer:bob", "chat:slack/C0/peer:bob"},
		{chat(-17.0), "", "chat:slack/-17"},
		{chat(1234567890123456789.0), "", "chat:slack/" + peerwords.Plain("1234567890123456800 mh")},
		{chat("C0/x"), "", "chat:slack/" + peerwords.Plain("C0/x")},
		{map[string]any{"source": "a/b", "chat_id": "C0"}, "", "chat:" + peerwords.Plain("a/b") + "/C0"},
		{map[string]any{"source": "platform", "chat_id": "C0"}, "", "canvas-ws"},
		{map[string]any{"source": "canvas_user", "chat_id": "C0"}, "", "canvas-ws"},
		{map[string]any{"chat_id": "C0"}, "", "canvas-ws"},
		{map[string]any{"source": "slack", "chat_id": " "}, "", "canvas-ws"},
		{map[string]any{"source": "slack", "chat_id": "C0", "source_workspace_id": "bob"}, "", "peer:bob"},
	} {
		name := "m" + string(rune('a'+i))
		asked := d.call(name, c.given, c.meta, "hi")
		j := d.r.next(t)
		ofChat := strings.HasPrefix(c.within, "chat:")
		if j.Context != c.within || ofChat && (j.Mute || !j.Peer || j.Input[0].Text != "hi") {
			t.Errorf("%v in %q runs in %q, %+v", c.meta, c.given, j.Context, j.Job)
		}
		j.observe(finished("hello"))
		asked.wait(t)
		if want := orElse(c.given, j.Context); asked.task.ContextID != want {
			t.Errorf("%v in %q is answered in %q", c.meta, c.given, asked.task.ContextID)
		}
	}
}

// TestChatsAnswerWhatTheyAreAsked, and nobody else is: neither the user, who is asked something at the
// same time, nor another chat.
func TestChatsAnswerWhatTheyAreAsked(t *testing.T) {
	d := newDesk(t)
	user := d.call("m1", "", map[string]any{"history": []any{}}, "hi")
	users := d.r.next(t)
	begun(users)
	users.observe(agent.Question{ID: "q", Kind: "command", Text: "may I?"})
	user.wait(t)
	asked := d.call("channel-slack-1", "", chat("C0"), "hi")
	theirs := d.r.next(t)
	begun(theirs)
	theirs.observe(agent.Question{ID: "p", Kind: "command", Text: "may I?"})
	asked.wait(t)
	other := d.call("channel-slack-1", "", chat("C1"), "yes") // ids of messages are the chat's
	if j := d.r.next(t); j.Context != "chat:slack/C1" || d.r.answers() != 0 {
		t.Errorf("another chat's runs in %q, %d answers", j.Context, d.r.answers())
	}
	other.cancel()
	say := func(meta map[string]any, task a2a.TaskID, id string) error {
		_, err := d.e.SendMessage(t.Context(), &a2a.SendMessageRequest{
			Config: &a2a.SendMessageConfig{ReturnImmediately: true}, Metadata: meta,
			Message: &a2a.Message{ID: id, TaskID: task, Role: a2a.MessageRoleUser, Parts: a2a.ContentParts{a2a.NewTextPart(id)}},
		})
		return err
	}
	for id, meta := range map[string]map[string]any{"x1": chat("C0"), "x2": chat("C1")} {
		if err := say(meta, tasks.TaskOf(users.ID), id); !errors.Is(err, a2a.ErrTaskNotFound) {
			t.Errorf("to the user's task: %v", err)
		}
	}
	if err := say(chat("C1"), tasks.TaskOf(theirs.ID), "x3"); !errors.Is(err, a2a.ErrTaskNotFound) {
		t.Errorf("to another chat's task: %v", err)
	}
	if err := say(chat("C0"), "", "x4"); err != nil || d.r.answers() != 1 || d.r.answered[0] != "x4" {
		t.Errorf("its own answer: %v, %v", err, d.r.answered)
	}
	if err := say(map[string]any{"history": []any{}}, "", "x5"); err != nil || d.r.answers() != 2 || d.r.answered[1] != "x5" {
		t.Errorf("the user's answer: %v, %v", err, d.r.answered)
	}
	if len(d.r.steered) != 0 {
		t.Errorf("steered %v", d.r.steered)
	}
}

// TestChatsReachNoTurnOfTheUsers, neither by a message that comes while it runs nor by a command.
func TestChatsReachNoTurnOfTheUsers(t *testing.T) {
	d := newDesk(t)
	d.call("m1", "", map[string]any{"source": "canvas_user"}, "hi")
	begun(d.r.next(t))
	d.call("m2", "", chat("C0"), "and this")
	if j := d.r.next(t); len(d.r.steered) != 0 || j.Context != "chat:slack/C0" {
		t.Errorf("it runs in %q, steered %v", j.Context, d.r.steered)
	}
	stop := d.call("m3", "", chat("C1"), "/stop")
	stop.wait(t)
	if text := reply.Of(stop.task).Parts[0].Text(); text != "Nothing was running or waiting here." {
		t.Errorf("/stop is answered %q", text)
	}
}

// TestChatsStayChatsOverARestart: only their requests have said what they are.
func TestChatsStayChatsOverARestart(t *testing.T) {
	m := newMachine(t, func(c *tasks.Config) { c.Main, c.Workspace = "canvas-ws", &tasks.Workspace{} })
	for id, meta := range map[string]map[string]any{"m1": chat("C0"), "m2": {"source": "github"}} {
		req := request(id, "", "hi")
		req.Metadata = meta
		task := begin(t, m.e, req)
		if kept := task.History[0].Metadata; kept["source"] != meta["source"] || kept["chat_id"] != meta["chat_id"] {
			t.Errorf("kept with %v", kept)
		}
	}
	for range 2 {
		for range 2 {
			if j := m.r.next(t); j.Peer != (j.Context == "chat:slack/C0") {
				t.Errorf("in %q: %+v", j.Context, j.Job)
			}
		}
		m.restart()
	}
}

// TestSchedulesAndServicesAnswerNothing, not what the user is asked, and the reply to one whose call
// is cut off comes to the canvas.
func TestSchedulesAndServicesAnswerNothing(t *testing.T) {
	for name, c := range map[string]struct {
		id   string
		meta map[string]any
	}{
		"schedule": {"cron-0a1b2c3d-4e5f6a7b", nil}, "stamped": {"cron-0a1b2c3d-4e5f6a7b", map[string]any{"source": "canvas_user"}},
		"run now": {"manual-cron-1764252934000", nil}, "service": {"m2", map[string]any{"source": "github", "history": []any{}}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			user := d.call("m1", "", nil, "hi")
			users := d.r.next(t)
			begun(users)
			users.observe(agent.Question{ID: "q", Kind: "command", Text: "may I?"})
			user.wait(t)
			user.receipt.Settle(true)
			asked := d.call(c.id, "", c.meta, "yes")
			j := d.r.next(t)
			if d.r.answers() != 0 || len(d.r.steered) != 0 || j.Context != "canvas-ws" || j.Peer {
				t.Errorf("%d answers, steered %v, %+v", d.r.answers(), d.r.steered, j.Job)
			}
			asked.leave(t)
			j.observe(finished("hello"))
			if !d.due() {
				t.Errorf("the user is owed %+v", d.owed())
			}
		})
	}
}
