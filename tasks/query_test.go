package tasks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
)

func list(t testing.TB, e *tasks.Engine, req *a2a.ListTasksRequest) *a2a.ListTasksResponse {
	t.Helper()
	res, err := e.ListTasks(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if res.Tasks == nil {
		t.Error("the list is nil")
	}
	return res
}

func TestListTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRunner()
		e := newEngine(t, r)
		if res := list(t, e, nil); len(res.Tasks) != 0 || res.PageSize != 50 || res.NextPageToken != "" {
			t.Errorf("an empty list = %+v", res)
		}
		var middle time.Time
		for i := range 120 {
			if i%3 == 0 { // the others are accepted in the same instant
				time.Sleep(time.Second)
			}
			if i == 60 {
				middle = time.Now()
			}
			begin(t, e, request(fmt.Sprintf("m%d", i), fmt.Sprintf("c%d", i%4), "hi"))
			j := r.next(t)
			if i%2 == 0 {
				j.start().answer("done")
			} else {
				j.start().say("a", "half")
			}
		}
		seen, token := map[a2a.TaskID]bool{}, ""
		var before time.Time
		for page := 0; ; page++ {
			res := list(t, e, &a2a.ListTasksRequest{PageSize: 7, PageToken: token})
			if res.TotalSize != 120 || res.PageSize != 7 {
				t.Fatalf("page %d: %d in all, pages of %d", page, res.TotalSize, res.PageSize)
			}
			for _, task := range res.Tasks {
				if at := *task.Status.Timestamp; page > 0 && at.After(before) {
					t.Errorf("page %d: %s after %s", page, at, before)
				}
				before = *task.Status.Timestamp
				if seen[task.ID] || task.Artifacts != nil {
					t.Errorf("task %s: seen before %t, artifacts %v", task.ID, seen[task.ID], task.Artifacts)
				}
				seen[task.ID] = true
			}
			if token = res.NextPageToken; token == "" {
				break
			}
		}
		if len(seen) != 120 {
			t.Errorf("the pages hold %d tasks", len(seen))
		}
		counts := map[string]struct {
			req  a2a.ListTasksRequest
			want int
		}{
			"context":   {a2a.ListTasksRequest{ContextID: "c1"}, 30},
			"state":     {a2a.ListTasksRequest{Status: a2a.TaskStateCompleted}, 60},
			"both":      {a2a.ListTasksRequest{Status: a2a.TaskStateWorking, ContextID: "c2"}, 0},
			"since":     {a2a.ListTasksRequest{StatusTimestampAfter: &middle}, 60},
			"no-such":   {a2a.ListTasksRequest{ContextID: "nope"}, 0},
			"all-of-it": {a2a.ListTasksRequest{PageSize: 100}, 120},
		}
		for name, c := range counts {
			if res := list(t, e, &c.req); res.TotalSize != c.want {
				t.Errorf("%s: %d tasks, want %d", name, res.TotalSize, c.want)
			}
		}
		zero := 0
		res := list(t, e, &a2a.ListTasksRequest{IncludeArtifacts: true, PageSize: 100, HistoryLength: &zero})
		for _, task := range res.Tasks {
			if len(task.Artifacts) != 1 || len(task.History) != 0 || task.Metadata[keys.ThreadID] != "thread" {
				t.Errorf("task %s: %d artifacts, %d messages, %v", task.Status.State, len(task.Artifacts), len(task.History), task.Metadata)
			}
		}
	})
}

// TestBoundsOfListTasks: a page of large tasks ends early, and the pages after it
// have the others.
func TestBoundsOfListTasks(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	r := newRunner()
	e := newEngine(t, r)
	const count, size = 12, 1 << 20
	for i := range count {
		begin(t, e, request(fmt.Sprintf("m%d", i), "c", "hi"))
		r.next(t).start().answer(strings.Repeat("x", size))
	}
	seen, pages, token := map[a2a.TaskID]bool{}, 0, ""
	for {
		res := list(t, e, &a2a.ListTasksRequest{PageSize: 100, PageToken: token, IncludeArtifacts: true})
		wire, err := json.Marshal(res)
		if err != nil || len(wire) > 5<<20 || len(res.Tasks) == 0 || res.TotalSize != count {
			t.Fatalf("%v, %d bytes, %d of %d tasks", err, len(wire), len(res.Tasks), res.TotalSize)
		}
		for _, task := range res.Tasks {
			seen[task.ID] = true
		}
		pages++
		if token = res.NextPageToken; token == "" {
			break
		}
	}
	if len(seen) != count || pages < 3 {
		t.Errorf("%d tasks on %d pages", len(seen), pages)
	}
	if res := list(t, e, &a2a.ListTasksRequest{}); len(res.Tasks) != count {
		t.Errorf("%d tasks without their artifacts", len(res.Tasks))
	}
}

func TestListTasksRefuses(t *testing.T) {
	e := newEngine(t, newRunner())
	n, huge := -1, 1<<31
	for words, req := range map[string]*a2a.ListTasksRequest{
		"pageSize is 101": {PageSize: 101}, "pageSize is -1; it can be between 1 and 100, or 0 for 50": {PageSize: -1}, "negative": {HistoryLength: &n}, "32 bits": {HistoryLength: &huge},
		"pageToken is none": {PageToken: "!"}, "is none of ours": {PageToken: "Zm9v"},
		"no state of a task": {Status: "TASK_STATE_DANCING"},
	} {
		_, err := e.ListTasks(t.Context(), req)
		wantError(t, err, a2a.ErrInvalidParams, words)
	}
}

func TestUnsupported(t *testing.T) {
	e := newEngine(t, newRunner())
	_, get := e.GetTaskPushConfig(t.Context(), nil)
	_, list := e.ListTaskPushConfigs(t.Context(), nil)
	_, create := e.CreateTaskPushConfig(t.Context(), nil)
	for _, err := range []error{get, list, create, e.DeleteTaskPushConfig(t.Context(), nil)} {
		wantError(t, err, a2a.ErrPushNotificationNotSupported, "not supported")
	}
	_, err := e.GetExtendedAgentCard(t.Context(), nil)
	wantError(t, err, a2a.ErrExtendedCardNotConfigured, "no extended agent card")
	_, err = e.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "nope"})
	wantError(t, err, a2a.ErrTaskNotFound, "nope")
	_, err = e.GetTask(t.Context(), nil)
	wantError(t, err, a2a.ErrInvalidParams, "missing")
}

// A brokenJournal fails when it is told to.
type brokenJournal struct {
	tasks.Journal
	broken atomic.Bool
	keeps  atomic.Bool // it cannot take back what it has accepted
	stiff  atomic.Bool // it accepts, and writes nothing down of what becomes of it
}

func (b *brokenJournal) Withdraw(ctx context.Context, job string, head *store.Head) error {
	if b.keeps.Load() {
		return errDisk
	}
	return b.Journal.Withdraw(ctx, job, head)
}

var errDisk = errors.New("disk I/O error in /secret/state.db")

func (b *brokenJournal) Accept(ctx context.Context, m store.Message, head store.Head) error {
	if b.broken.Load() {
		return errDisk
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return b.Journal.Accept(ctx, m, head)
}

func (b *brokenJournal) Write(ctx context.Context, change store.Change) error {
	if b.broken.Load() || b.stiff.Load() {
		return errDisk
	}
	return b.Journal.Write(ctx, change)
}

func (b *brokenJournal) Tasks(ctx context.Context, q store.Query) (store.Page, error) {
	if b.broken.Load() {
		return store.Page{}, errDisk
	}
	return b.Journal.Tasks(ctx, q)
}

// TestBrokenJournal: nothing new is accepted, and running turns go on to their end.
func TestBrokenJournal(t *testing.T) {
	r := newRunner()
	journal := &brokenJournal{Journal: newJournal(t)}
	e := newEngine(t, r, func(c *tasks.Config) { c.Journal = journal })
	stream := listen(e.SendStreamingMessage(t.Context(), request("m1", "c", "hi")))
	j := r.next(t)
	journal.broken.Store(true)
	_, sendErr := e.SendMessage(t.Context(), request("m2", "c", "hi"))
	_, listErr := e.ListTasks(t.Context(), nil)
	for _, err := range []error{sendErr, listErr} {
		wantError(t, err, a2a.ErrInternalError, "the runtime could not")
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("the error tells internals: %v", err)
		}
	}
	j.start()
	j.end(agent.Ended{Outcome: agent.Completed, Messages: []agent.Message{{ItemID: "a", Text: "done"}}})
	events := stream.wait(t)
	if got := show(events[len(events)-1]); got != "status completed" {
		t.Errorf("the stream ends with %q", got)
	}
	if r.count() != 1 {
		t.Errorf("%d jobs", r.count())
	}
}

// A partingJournal has the caller leave as his message is stored.
type partingJournal struct {
	*store.Store
	leave context.CancelFunc
}

func (p *partingJournal) Accept(ctx context.Context, m store.Message, head store.Head) error {
	p.leave()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return p.Store.Accept(ctx, m, head)
}

func TestCallerWhoLeavesWhileHisMessageIsStored(t *testing.T) {
	r := newRunner()
	ctx, leave := context.WithCancel(t.Context())
	e := newEngine(t, r, func(c *tasks.Config) { c.Journal = &partingJournal{newJournal(t), leave} })
	if _, err := e.SendMessage(ctx, request("m1", "c", "hi")); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want that of the context, after the message was taken", err)
	}
	r.next(t).start().answer("done")
}

// countingJournal counts how often the journal is asked for tasks.
type countingJournal struct {
	*store.Store
	pages, single, bodies atomic.Int32
}

func (c *countingJournal) Body(ctx context.Context, job string) ([]byte, error) {
	c.bodies.Add(1)
	return c.Store.Body(ctx, job)
}

func (c *countingJournal) Tasks(ctx context.Context, q store.Query) (store.Page, error) {
	c.pages.Add(1)
	return c.Store.Tasks(ctx, q)
}

func (c *countingJournal) Task(ctx context.Context, id string) (store.Task, error) {
	c.single.Add(1)
	return c.Store.Task(ctx, id)
}

// TestListAsksTheJournalOnce for a page with everything that is shown of it, and nothing
// that is not.
func TestListAsksTheJournalOnce(t *testing.T) {
	r := newRunner()
	journal := &countingJournal{Store: newJournal(t)}
	e := newEngine(t, r, func(c *tasks.Config) { c.Journal = journal })
	for i := range 5 {
		task := begin(t, e, request(fmt.Sprintf("m%d", i), "c", "hi"))
		r.next(t).start().answer("done")
		wantTask(t, get(t, e, task.ID), a2a.TaskStateCompleted, "done")
	}
	journal.pages.Store(0)
	journal.single.Store(0)
	none := 0
	for _, tt := range []struct {
		req                *a2a.ListTasksRequest
		history, artifacts bool
	}{
		{nil, true, false},
		{&a2a.ListTasksRequest{IncludeArtifacts: true}, true, true},
		{&a2a.ListTasksRequest{HistoryLength: &none}, false, false},
	} {
		for _, task := range list(t, e, tt.req).Tasks {
			if (len(task.History) > 0) != tt.history || (len(task.Artifacts) > 0) != tt.artifacts {
				t.Errorf("%+v: %d messages and %d artifacts", tt.req, len(task.History), len(task.Artifacts))
			}
		}
	}
	if pages, single := journal.pages.Load(), journal.single.Load(); pages != 3 || single != 0 {
		t.Errorf("the journal was asked for %d pages and %d tasks, want 3 pages", pages, single)
	}
}
