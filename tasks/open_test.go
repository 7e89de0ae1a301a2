package tasks_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
)

// A slowJournal reads a whole task until its caller leaves, or the test ends.
type slowJournal struct {
	*store.Store
	loading  chan struct{} // is sent to when it begins
	testEnds <-chan struct{}
}

func (s *slowJournal) Task(ctx context.Context, id string) (store.Task, error) {
	s.loading <- struct{}{}
	select {
	case <-ctx.Done():
		return store.Task{}, ctx.Err()
	case <-s.testEnds:
		return s.Store.Task(ctx, id)
	}
}

// waysToAnEndedTask are the calls that are answered with the task of message m1, which has ended.
var waysToAnEndedTask = map[string]func(context.Context, *tasks.Engine, a2a.TaskID) error{
	"again": func(ctx context.Context, e *tasks.Engine, _ a2a.TaskID) error {
		_, err := e.SendMessage(ctx, request("m1", "c", "hi"))
		return err
	},
	"again as a stream": func(ctx context.Context, e *tasks.Engine, _ a2a.TaskID) error {
		return last(e.SendStreamingMessage(ctx, request("m1", "c", "hi")))
	},
	"again with a retry": func(ctx context.Context, e *tasks.Engine, _ a2a.TaskID) error {
		req := request("m1", "c", "hi")
		req.Message.Metadata = map[string]any{keys.Retry: true}
		_, err := e.SendMessage(ctx, req)
		return err
	},
	"cancel": func(ctx context.Context, e *tasks.Engine, id a2a.TaskID) error {
		_, err := e.CancelTask(ctx, &a2a.CancelTaskRequest{ID: id})
		return err
	},
	"resume": func(ctx context.Context, e *tasks.Engine, id a2a.TaskID) error {
		for _, err := range e.Resume(ctx, &a2a.SubscribeToTaskRequest{ID: id}, "1.1") {
			if err != nil {
				return err
			}
		}
		return nil
	},
	"get": func(ctx context.Context, e *tasks.Engine, id a2a.TaskID) error {
		_, err := e.GetTask(ctx, &a2a.GetTaskRequest{ID: id})
		return err
	},
}

// last is the error that a stream ends with.
func last(stream func(func(a2a.Event, error) bool)) (last error) {
	for _, err := range stream {
		last = err
	}
	return last
}

// TestOthersGetThroughWhileATaskIsLoaded: a task that has ended may hold much, and messages
// are accepted while it is read. The reading ends with its caller.
func TestOthersGetThroughWhileATaskIsLoaded(t *testing.T) {
	for name, ask := range waysToAnEndedTask {
		t.Run(name, func(t *testing.T) {
			r := newRunner()
			journal := &slowJournal{newJournal(t), make(chan struct{}), t.Context().Done()}
			e := newEngine(t, r, func(c *tasks.Config) { c.Journal = journal })
			task := begin(t, e, request("m1", "c", "hi"))
			r.next(t).start().answer("done")
			ctx, leave := context.WithCancel(t.Context())
			asked := make(chan error, 1)
			go func() { asked <- ask(ctx, e, task.ID) }()
			<-journal.loading
			go func() { _, _ = e.SendMessage(t.Context(), request("m2", "another's", "hi")) }()
			r.next(t).start().answer("done")
			leave()
			if err := <-asked; !errors.Is(err, context.Canceled) {
				t.Errorf("error = %v, want that of the context", err)
			}
		})
	}
}

var errNoTurn = errors.New("no turn")

// A noTurn is a Loading that has none, and is called when one is asked for.
type noTurn func()

func (n noTurn) Begin(context.Context) error {
	n()
	return errNoTurn
}

func (noTurn) End() {}

// TestLoadWaitsForItsTurn, which the transport gives; without one nothing is read.
func TestLoadWaitsForItsTurn(t *testing.T) {
	for name, ask := range waysToAnEndedTask {
		t.Run(name, func(t *testing.T) {
			r := newRunner()
			journal := &countingJournal{Store: newJournal(t)}
			e := newEngine(t, r, func(c *tasks.Config) { c.Journal = journal })
			task := begin(t, e, request("m1", "c", "hi"))
			turns := 0
			ctx := tasks.WithLoading(t.Context(), noTurn(func() { turns++ }))
			get := waysToAnEndedTask["get"]
			if err := get(ctx, e, task.ID); err != nil || turns > 0 {
				t.Errorf("while it is under way: %v, with %d turns", err, turns)
			}
			r.next(t).start().answer("done")
			if err := ask(ctx, e, task.ID); !errors.Is(err, errNoTurn) || turns != 1 || journal.single.Load() > 0 {
				t.Errorf("error = %v, with %d turns and %d tasks read, want that of the turn", err, turns, journal.single.Load())
			}
		})
	}
}

// TestRefusedWithoutTheTask: a message that is refused for the state of a task, or for what
// was sent under its id before, has neither read whole.
func TestRefusedWithoutTheTask(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*a2a.SendMessageRequest, a2a.TaskID)
		want   error
	}{
		"has ended":       {func(req *a2a.SendMessageRequest, id a2a.TaskID) { req.Message.ID, req.Message.TaskID = "m2", id }, a2a.ErrUnsupportedOperation},
		"another context": {func(req *a2a.SendMessageRequest, id a2a.TaskID) { req.Message.ContextID, req.Message.TaskID = "d", id }, a2a.ErrInvalidParams},
		"other content":   {func(req *a2a.SendMessageRequest, _ a2a.TaskID) { req.Message.Parts[0] = a2a.NewTextPart("ho") }, a2a.ErrInvalidParams},
		"an agent's": {func(req *a2a.SendMessageRequest, id a2a.TaskID) {
			req.Message.TaskID, req.Message.Metadata = id, map[string]any{"source_workspace_id": "other"}
		}, a2a.ErrTaskNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRunner()
			journal := &countingJournal{Store: newJournal(t)}
			e := newEngine(t, r, func(c *tasks.Config) { c.Journal, c.Workspace = journal, &tasks.Workspace{} })
			task := begin(t, e, request("m1", "c", "hi"))
			r.next(t).start().answer("done")
			req := request("m1", "c", "hi")
			c.change(req, task.ID)
			if _, err := e.SendMessage(t.Context(), req); !errors.Is(err, c.want) {
				t.Errorf("error = %v, want %v", err, c.want)
			}
			_, err := e.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: task.ID, Metadata: map[string]any{"source_workspace_id": "other"}})
			wantError(t, err, a2a.ErrTaskNotFound, "no task")
			if tasks, bodies := journal.single.Load(), journal.bodies.Load(); tasks+bodies > 0 {
				t.Errorf("%d tasks and %d bodies were read", tasks, bodies)
			}
		})
	}
}

// A messageJournal counts what it is asked about messages.
type messageJournal struct {
	*store.Store
	asked atomic.Int32
}

func (j *messageJournal) Message(ctx context.Context, key store.Key) (store.Message, error) {
	j.asked.Add(1)
	return j.Store.Message(ctx, key)
}

func (j *messageJournal) Accept(ctx context.Context, m store.Message, head store.Head) error {
	j.asked.Add(1)
	return j.Store.Accept(ctx, m, head)
}

// TestCallerWhoHasLeftIsNotServed: neither a new message nor one that comes again is looked
// at if its caller has left while it waited. The new one can be sent again, as if it were the
// first time.
func TestCallerWhoHasLeftIsNotServed(t *testing.T) {
	r := newRunner()
	journal := &messageJournal{Store: newJournal(t)}
	e := newEngine(t, r, func(c *tasks.Config) { c.Journal = journal })
	begin(t, e, request("known", "c", "hi"))
	r.next(t).start().answer("done")
	r.gate = make(chan struct{})
	first := make(chan error, 1)
	go func() {
		_, err := e.SendMessage(t.Context(), request("first", "c", "hi"))
		first <- err
	}()
	<-r.gate // it holds up those behind it
	asked := journal.asked.Load()
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan error, 2)
	for _, id := range []string{"known", "new"} {
		go func() {
			_, err := e.SendMessage(ctx, request(id, "c", "hi"))
			gone <- err
		}()
	}
	leave()
	r.gate <- struct{}{}
	for answered := 0; answered < cap(gone); {
		select {
		case err := <-gone:
			answered++
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error = %v, want that of the context", err)
			}
		case <-r.gate:
			t.Error("a turn is made for a caller who has left")
			r.gate <- struct{}{}
		}
	}
	if n := journal.asked.Load() - asked; n != 0 {
		t.Errorf("the journal was asked %d times for callers who have left", n)
	}
	r.next(t).start().answer("first")
	if err := <-first; err != nil {
		t.Error(err)
	}
	r.gate = nil
	begin(t, e, request("new", "c", "hi"))
	r.next(t).start().answer("done")
}
