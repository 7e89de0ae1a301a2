package tasks_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/notify"
)

// telling lets messages name whom to tell, but for nobody-at-all.
func telling(woken *atomic.Int32) func(*tasks.Config) {
	return func(c *tasks.Config) {
		c.Notify = &tasks.Notify{
			Check: func(target string) error {
				if target == "nobody-at-all" {
					return errors.New("he is not at home")
				}
				return nil
			},
			Wake: func() { woken.Add(1) },
		}
	}
}

func noticeOf(t *testing.T, s *store.Store, id a2a.TaskID) (store.Notice, notify.Body) {
	t.Helper()
	n, err := s.Notice(t.Context(), string(id))
	if err != nil {
		t.Fatal(err)
	}
	var body notify.Body
	if err := json.Unmarshal(n.Body, &body); err != nil {
		t.Fatal(err)
	}
	return n, body
}

// TestNoticeComesWithTheEnd ends tasks in all the ways there are.
func TestNoticeComesWithTheEnd(t *testing.T) {
	var woken atomic.Int32
	m := newMachine(t, telling(&woken))
	for name, c := range map[string]struct {
		end  agent.Ended
		says string
	}{
		"completed": {agent.Ended{Outcome: agent.Completed, Messages: []agent.Message{{ItemID: "i", Text: "all  is\nwell"}}},
			"finished with status: completed.\nPrompt: hi completed\nSummary: all is well"},
		"failed": {agent.Ended{Outcome: agent.Failed, Failure: &agent.Failure{Kind: agent.FailModel, Message: "the model is gone"}},
			"finished with status: failed.\nPrompt: hi failed\nSummary: the model is gone"},
		"interrupted": {agent.Ended{Outcome: agent.Interrupted, Tools: true, Failure: &agent.Failure{Kind: agent.FailUnreachable, Message: "cut off"}},
			"finished with status: failed.\nPrompt: hi interrupted\nSummary: cut off"},
		"canceled": {agent.Ended{Outcome: agent.Canceled}, "finished with status: cancelled.\nPrompt: hi canceled"},
	} {
		before := woken.Load()
		req := wishing(name, map[string]any{"notifyTarget": " " + name + "@home "})
		req.Message.ContextID = name
		task := begin(t, m.e, req)
		wish, _ := task.Metadata["notification"].(map[string]any)
		if wish["target"] != name+"@home" || wish["status"] != "pending" {
			t.Errorf("%s: the task that runs says %v", name, task.Metadata)
		}
		if _, err := m.st.Notice(t.Context(), string(task.ID)); !errors.Is(err, store.ErrUnknown) {
			t.Errorf("%s: there is a notice before the end: %v", name, err)
		}
		m.r.next(t).start().end(c.end)
		n, body := noticeOf(t, m.st, task.ID)
		if n.Target != name+"@home" || n.Status != store.NoticePending || n.Due.IsZero() || woken.Load() != before+1 {
			t.Errorf("%s: notice = %+v, woken %d times", name, n, woken.Load()-before)
		}
		if want := "Codex Bridge task " + name + " " + c.says; body.Text != want || body.Name != name {
			t.Errorf("%s: it says %q, want %q", name, body.Text, want)
		}
	}
}

// TestNoticeIsSeenInTheTask shows what became of it, wherever the task is shown.
func TestNoticeIsSeenInTheTask(t *testing.T) {
	var woken atomic.Int32
	m := newMachine(t, telling(&woken))
	id := begin(t, m.e, wishing("m", map[string]any{"notifyTarget": "x"})).ID
	m.r.next(t).start().answer("done")
	n, body := noticeOf(t, m.st, id)
	if body.Name != string(id) {
		t.Errorf("a task whose context is not its own is called %q", body.Name)
	}
	n.Status, n.Error = store.NoticeFailed, "no answer"
	if err := m.st.SetNotice(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	list, err := m.e.ListTasks(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range []*a2a.Task{get(t, m.e, id), list.Tasks[0]} {
		got, _ := task.Metadata["notification"].(map[string]any)
		if got["target"] != "x" || got["status"] != "failed" || got["error"] != "no answer" || got["notifiedAt"] != nil {
			t.Errorf("notification = %v", got)
		}
	}
}

// TestNobodyToTell makes a notice without a target of a message that says so, and
// none of one that says nothing.
func TestNobodyToTell(t *testing.T) {
	var woken atomic.Int32
	m := newMachine(t, telling(&woken))
	silent := begin(t, m.e, request("m1", "", "hi")).ID
	m.r.next(t).start().answer("done")
	if _, err := m.st.Notice(t.Context(), string(silent)); !errors.Is(err, store.ErrUnknown) {
		t.Errorf("a task that nobody has asked about has a notice: %v", err)
	}
	id := begin(t, m.e, wishing("m2", map[string]any{"notifyTarget": ""})).ID
	m.r.next(t).start().answer("done")
	if n, _ := noticeOf(t, m.st, id); n.Target != "" || n.Status != "" || !n.Due.IsZero() {
		t.Errorf("notice = %+v", n)
	}
	_, err := m.e.SendMessage(t.Context(), wishing("m3", map[string]any{"notifyTarget": "nobody-at-all"}))
	wantError(t, err, a2a.ErrInvalidParams, "notifyTarget is refused: he is not at home")
}

// TestPeersHaveNobodyTold: what another agent's message says of a notice is left out, whatever
// it names and however it says whose it is, and the message is run as any other. The user's
// next one in the same place has its notice.
func TestPeersHaveNobodyTold(t *testing.T) {
	var woken atomic.Int32
	var log strings.Builder
	d := newDesk(t, telling(&woken), func(c *tasks.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	send := func(id string, request, message map[string]any) *a2a.Task {
		req := wishing(id, message)
		req.Metadata, req.Message.ContextID = request, "ctx-"+id
		task := begin(t, d.e, req)
		d.r.next(t).start().answer("sign in there")
		return task
	}
	for name, target := range map[string]any{"canvas": "canvas", "local": "local", "hook": "https://example.com/x", "refused": "nobody-at-all", "none": "", "number": 5.0} {
		for id, meta := range map[string][2]map[string]any{
			"message": {nil, by("bob")}, "request": {by("bob"), nil}, "delegation": {nil, {"delegation_id": "d"}},
			"posing": {{"source": "canvas_user"}, {"source_workspace_id": "bob", "source": "canvas_user", "history": []any{}}},
		} {
			message := map[string]any{"notifyTarget": target}
			maps.Copy(message, meta[1])
			task := send(name+"-"+id, meta[0], message)
			if n, err := d.st.Notice(t.Context(), string(task.ID)); !errors.Is(err, store.ErrUnknown) || woken.Load() != 0 || task.Metadata["notification"] != nil {
				t.Errorf("%s, by the %s: a notice for %q, %v; the task has %v", name, id, n.Target, err, task.Metadata)
			}
		}
	}
	if said := log.String(); !strings.Contains(said, "is left out") || !strings.Contains(said, "from=peer:bob") {
		t.Errorf("the log says %s", said)
	}
	task := send("user", nil, map[string]any{"notifyTarget": "canvas", "source": "canvas_user"})
	if n, _ := noticeOf(t, d.st, task.ID); n.Target != "canvas" || woken.Load() != 1 {
		t.Errorf("of the user's message: %+v", n)
	}
}

// TestNoticeOutlivesTheProcess ends the task in another process than it began in, and
// where the end could not be written at first.
func TestNoticeOutlivesTheProcess(t *testing.T) {
	var woken atomic.Int32
	m := newMachine(t, telling(&woken))
	id := begin(t, m.e, wishing("m", map[string]any{"notifyTarget": "x"})).ID
	m.kill()
	m.start()
	m.r.next(t).start().answer("done")
	if n, body := noticeOf(t, m.st, id); n.Target != "x" || !strings.Contains(body.Text, "Summary: done") {
		t.Errorf("notice = %+v that says %q", n, body.Text)
	}

	journal := newJournal(t)
	broken := &brokenJournal{Journal: journal}
	r := newRunner()
	e := newEngine(t, r, telling(&woken), func(c *tasks.Config) { c.Journal = broken })
	id = begin(t, e, wishing("m", map[string]any{"notifyTarget": "x"})).ID
	j := r.next(t).start()
	broken.broken.Store(true)
	j.answer("done")
	broken.broken.Store(false)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if _, err := journal.Notice(t.Context(), string(id)); err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the end was written without its notice")
		}
	}
}

// TestRefusedMessageNamesNobody takes the target back with the message that the
// runner does not take.
func TestRefusedMessageNamesNobody(t *testing.T) {
	var woken atomic.Int32
	m := newMachine(t, telling(&woken))
	id := begin(t, m.e, wishing("m1", map[string]any{"notifyTarget": "first"})).ID
	m.r.refuse = executor.ErrQueueFull
	more := wishing("m2", map[string]any{"notifyTarget": "second"})
	more.Message.TaskID = id
	if _, err := m.e.SendMessage(t.Context(), more); err == nil {
		t.Fatal("the message was taken")
	}
	m.r.next(t).start().answer("done")
	if n, _ := noticeOf(t, m.st, id); n.Target != "first" {
		t.Errorf("the one to be told is %q", n.Target)
	}
}
