package tasks_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/push"
)

func TestPushSender(t *testing.T) {
	user := push.Sender{Name: "user"}
	bob, unnamed := push.Sender{Name: "peer:bob", Peer: true}, push.Sender{Name: "peer:?", Peer: true}
	for conversation, want := range map[string]push.Sender{
		"": user, "canvas-ws": user, "command:canvas-ws": user, "sess-1": user, "peers": user,
		"peer:bob": bob, "peer:bob/x": bob, "peer:bob/x/aside/y": bob, "peer:bob@us": bob, "command:peer:bob": bob, "command:peer:bob/x": bob,
		"peer:?/x": unnamed, "peer:?/y": unnamed, "command:peer:?/z": unnamed,
		"peer:bobby": {Name: "peer:bobby", Peer: true},
	} {
		if got := tasks.PushSender(true, conversation); got != want {
			t.Errorf("%q is %+v, want %+v", conversation, got, want)
		}
		if got := tasks.PushSender(false, conversation); got != user {
			t.Errorf("%q is %+v outside of a workspace, want %+v", conversation, got, user)
		}
	}
}

// TestTooManyPushesWait: whose notifications wait in too great a number makes no further
// settings, and is told by those that there are of what cannot be done without.
func TestTooManyPushesWait(t *testing.T) {
	var woken atomic.Int32
	var full atomic.Bool
	var m metrics
	r, st := &asker{runner: newRunner()}, newJournal(t)
	e := newEngine(t, r, pushing(&woken), func(c *tasks.Config) {
		c.Journal, c.Metrics = st, &m
		c.Push.Full = func(conversation string) bool { return full.Load() && conversation != "other" }
	})
	task := begin(t, e, withPush(request("m", "ctx", "hi"), &a2a.PushConfig{ID: "a", URL: hook}))
	ended := begin(t, e, withPush(request("e", "ctx-of-ended", "hi"), &a2a.PushConfig{ID: "e", URL: hook}))
	j, last := r.next(t).start(), r.next(t)
	last.start().answer("x")
	before := len(notified(t, st))

	full.Store(true)
	const words = "too many push notifications wait"
	further := request("further", "", "hi")
	further.Message.TaskID = task.ID
	for _, req := range []*a2a.SendMessageRequest{request("new", "ctx-new", "hi"), further, request("command", "ctx", "/status")} {
		withPush(req, &a2a.PushConfig{URL: hook}).Config.ReturnImmediately = true
		_, err := e.SendMessage(t.Context(), req)
		wantError(t, err, a2a.ErrServerError, words)
	}
	create := func(id a2a.TaskID, setting string) error {
		_, err := e.CreateTaskPushConfig(t.Context(), &a2a.PushConfig{TaskID: id, ID: setting, URL: hook + "2"})
		return err
	}
	wantError(t, create(task.ID, "b"), a2a.ErrServerError, words)
	if err := create(task.ID, "a"); err != nil {
		t.Errorf("one in the place of another: %v", err)
	}
	if err := create(ended.ID, "b"); err != nil {
		t.Errorf("one of a task that has ended: %v", err)
	}
	if r.count() != 2 {
		t.Errorf("%d jobs: one of what was refused", r.count())
	}
	begin(t, e, withPush(request("other", "other", "hi"), &a2a.PushConfig{URL: hook})) // whose conversation is another's
	begin(t, e, request("new", "ctx-new", "hi"))

	j.whole("one", "some text", "commentary")
	j.ask("q", "which?")
	begin(t, e, to(task, "m2", "this"))
	j.answer("done")
	want := "a status input_required\na status completed"
	if got := told(t, notified(t, st)[before:]); got != want {
		t.Errorf("told\n%s\nwant\n%s", got, want)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	dropped := slices.DeleteFunc(slices.Clone(m.calls), func(call string) bool { return !strings.HasPrefix(call, "dropped") })
	if len(dropped) != 3 { // two artifacts, and that it works again
		t.Errorf("counted %v", dropped)
	}
}
