package tasks_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// drops counts the threads that were let go of.
type drops struct{ n atomic.Int32 }

func (d *drops) Thread(context.Context, string) (string, error) { return "", nil }
func (d *drops) Drop(context.Context, string) error {
	d.n.Add(1)
	return nil
}
func (d *drops) EndAgents(context.Context, string) (int, error) { return 0, nil }

// TestPeersFloodForgetsNothingOfTheUsers has an agent send more in two minutes than is kept:
// what the user sends again is still what it was, and nothing of it happens twice.
func TestPeersFloodForgetsNothingOfTheUsers(t *testing.T) {
	const most = 10
	var passed atomic.Int64
	journal, err := store.Open(t.Context(), store.Config{
		Dir: t.TempDir(), Retention: store.Retention{Tasks: most},
		Now: func() time.Time { return time.Now().Add(time.Duration(passed.Load())) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = journal.Close() })
	r, threads := newRunner(), &drops{}
	e := newEngine(t, r, func(cfg *tasks.Config) {
		cfg.Journal, cfg.Conversations, cfg.Workspace = journal, threads, &tasks.Workspace{}
	})
	send := func(id, text string, meta map[string]any) *a2a.Task {
		t.Helper()
		req := request(id, "", text)
		req.Message.Metadata = meta
		return begin(t, e, req)
	}
	cancel := func(task *a2a.Task) {
		t.Helper()
		if _, err := e.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: task.ID}); err != nil {
			t.Fatal(err)
		}
	}
	users := map[string]a2a.TaskID{}
	states := map[string]a2a.TaskState{"ran": a2a.TaskStateCompleted, "waited": a2a.TaskStateCanceled, "new": a2a.TaskStateCompleted}
	for id, text := range map[string]string{"ran": "do it", "waited": "do it later", "new": "/new"} {
		task := send(id, text, nil)
		switch users[id] = task.ID; id {
		case "ran":
			r.next(t).start().answer("done")
		case "waited":
			r.next(t)
			cancel(task)
		}
		waitFor(t, e, task.ID, states[id])
	}
	jobs := r.count()
	passed.Add(int64(2 * time.Minute))
	for i := range 3 * most {
		bob := map[string]any{"source_workspace_id": "bob"}
		for _, text := range []string{"/status", "/new"} {
			waitFor(t, e, send(fmt.Sprint(text, i), text, bob).ID, a2a.TaskStateCompleted)
		}
		cancel(send(fmt.Sprint("c", i), "never mind", bob))
	}
	passed.Add(int64(2 * time.Minute))
	if err := journal.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	dropped := threads.n.Load()
	for id, text := range map[string]string{"ran": "do it", "waited": "do it later", "new": "/new"} {
		if again := send(id, text, nil); again.ID != users[id] {
			t.Errorf("%q sent again is another task", id)
		}
	}
	if n := r.count() - jobs - 3*most; n != 0 || threads.n.Load() != dropped {
		t.Errorf("sent again, %d messages ran and %d conversations ended", n, threads.n.Load()-dropped)
	}
	list, err := e.ListTasks(t.Context(), &a2a.ListTasksRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if want := len(users) + 2*most; list.TotalSize != want {
		t.Errorf("%d tasks are kept, want %d", list.TotalSize, want)
	}
}
