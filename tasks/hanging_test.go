package tasks_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// A hangingJournal has writes wait once it is told to.
type hangingJournal struct {
	*store.Store
	hang chan chan struct{} // a write that takes one out of it says that it waits, and goes on when it is closed
}

func (h *hangingJournal) Write(ctx context.Context, change store.Change) error {
	select {
	case wait := <-h.hang:
		wait <- struct{}{}
		<-wait
	default:
	}
	return h.Store.Write(ctx, change)
}

// TestReadersDoNotWaitForCommits: while the end of a task hangs in its commit, whoever reads the task is
// shown it as it was before, at once, and sees its end when that is committed.
func TestReadersDoNotWaitForCommits(t *testing.T) {
	r := newRunner()
	h := &hangingJournal{Store: newJournal(t), hang: make(chan chan struct{}, 1)}
	e := newEngine(t, r, func(c *tasks.Config) { c.Journal = h })
	task := begin(t, e, request("m", "c", "hi"))
	j := r.next(t)
	j.start()
	j.say("a", "half of it, and more")
	if _, err := e.ListTasks(t.Context(), &a2a.ListTasksRequest{}); err != nil { // its state is committed
		t.Fatal(err)
	}
	early := follow(t, e, task.ID)
	wait := make(chan struct{})
	h.hang <- wait
	go j.answer("half of it, and more, and the end")
	<-wait

	begun := time.Now()
	now := get(t, e, task.ID)
	if now.Status.State != a2a.TaskStateWorking || !strings.HasPrefix(strings.Join(texts(now), ""), `a="half of it`) {
		t.Errorf("while the end is committed the task is %s with %q", now.Status.State, texts(now))
	}
	late := follow(t, e, task.ID)
	if news, err := e.Newest(t.Context(), 5); err != nil || len(news) != 1 || news[0].State != a2a.TaskStateWorking {
		t.Errorf("the newest tasks are %+v, %v", news, err)
	}
	if page, err := e.ListTasks(t.Context(), &a2a.ListTasksRequest{}); err != nil || len(page.Tasks) != 1 {
		t.Errorf("the list has %+v, %v", page, err)
	}
	for _, reader := range []*listener{early, late} {
		if seen := showAll(reader.seen()); strings.Contains(seen, "completed") {
			t.Errorf("an end is shown that is not committed:\n%s", seen)
		}
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("readers have waited for %v", took)
	}
	close(wait)
	for _, reader := range []*listener{early, late} {
		if events := reader.wait(t); show(events[len(events)-1]) != "status completed" {
			t.Errorf("the stream ends with %s", show(events[len(events)-1]))
		}
	}
	if got := get(t, e, task.ID); got.Status.State != a2a.TaskStateCompleted {
		t.Errorf("the task is %s", got.Status.State)
	}
}
