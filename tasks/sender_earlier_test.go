package tasks_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/peerwords"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// TestMessageOfAnEarlierVersion: what was accepted without its sender is the same message
// when the platform sends it again, and no message of the user's is.
func TestMessageOfAnEarlierVersion(t *testing.T) {
	for name, c := range map[string]struct {
		stored map[string]any // in the message
		owed   bool
		known  bool
	}{
		"marked": {by("bob"), false, true}, "anothers": {by("eve"), false, false},
		"marked-beside": {nil, false, true}, "the-users": {nil, true, false}, "on-the-canvas": {map[string]any{"source": "canvas_user"}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			old := earlier(t, d, c.stored, c.owed, true)
			asked := d.call("m1", "", by("bob"), "hi")
			if c.known {
				asked.wait(t)
				if asked.task == nil || string(asked.task.ID) != old {
					t.Errorf("%+v, %v", asked.task, asked.err)
				}
				return
			}
			if j := d.r.next(t); j.Context != "peer:bob" {
				t.Errorf("it runs in %q", j.Context)
			}
		})
	}
}

// TestWaitingMessageOfAnEarlierVersion runs where that version has put it, marked.
func TestWaitingMessageOfAnEarlierVersion(t *testing.T) {
	d := newDesk(t)
	old := earlier(t, d, by("bob"), false, false)
	if err := d.e.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	j := d.r.next(t)
	if j.Context != "canvas-ws" || string(tasks.TaskOf(j.ID)) != old || !strings.Contains(j.Input[0].Text, "workspace bob") || peerwords.Within(j.Input[0].Text) != "hi" {
		t.Errorf("in %q: %+v", j.Context, j.Job)
	}
	d.call("m1", "", by("bob"), "hi")
	d.call("m2", "", by("bob"), "more")
	if next := d.r.next(t); next.Context != "peer:bob" || peerwords.Within(next.Input[0].Text) != "more" {
		t.Errorf("what comes next is in %q: %q", next.Context, next.Input[0].Text)
	}
}

// earlier puts a message into the store as an earlier version did, in the user's own
// conversation, and its task.
func earlier(t *testing.T, d *desk, meta map[string]any, owed, ended bool) (id string) {
	t.Helper()
	scribe := newDesk(t)
	scribe.call("m1", "", meta, "hi")
	scribe.r.next(t)
	kept, err := scribe.st.Unfinished(t.Context())
	if err != nil || len(kept) != 1 {
		t.Fatalf("%+v, %v", kept, err)
	}
	m, head := kept[0].Messages[0], kept[0].Task.Head
	m.Key.Caller, m.Conversation, head.Conversation, head.Context = "", "canvas-ws", "canvas-ws", "canvas-ws"
	head.Body = bytes.Replace(head.Body, []byte(`,"sorted":true`), nil, 1)
	if ended {
		head.State, head.Ended = string(a2a.TaskStateCompleted), true
		head.Body = []byte(`{"status":{"state":"TASK_STATE_COMPLETED"},"turns":1,"owed":` + strconv.FormatBool(owed) + `}`)
	}
	if err := d.st.Accept(t.Context(), m, head); err != nil {
		t.Fatal(err)
	}
	return head.ID
}
