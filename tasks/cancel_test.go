package tasks_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
)

func cancelTask(t testing.TB, e *tasks.Engine, id a2a.TaskID) (*a2a.Task, error) {
	return e.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: id})
}

func TestCancelQueued(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	begin(t, e, request("m1", "c", "one"))
	r.next(t).start()
	queued := begin(t, e, request("m2", "c", "two"))
	task, err := cancelTask(t, e, queued.ID)
	if err != nil || task.Status.State != a2a.TaskStateCanceled {
		t.Fatalf("canceled = %+v, %v", task, err)
	}
	again, err := cancelTask(t, e, queued.ID)
	if err != nil || again.Status.State != a2a.TaskStateCanceled {
		t.Errorf("canceled again = %+v, %v; want the canceled task", again, err)
	}
}

// TestCancelTwiceIn03: the second cancel is refused there, but not one that comes before
// the first is done.
func TestCancelTwiceIn03(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	v0 := tasks.WithV0(t.Context())
	task := begin(t, e, request("m1", "c", "one"))
	both := make(chan error, 2)
	asked, held := make(chan struct{}, cap(both)), make(chan struct{})
	var end sync.Once
	r.onCancel = func(j *job) {
		asked <- struct{}{}
		<-held
		end.Do(func() { j.end(agent.Ended{Outcome: agent.Canceled}) })
	}
	r.next(t).start()
	for range cap(both) {
		go func() {
			_, err := e.CancelTask(v0, &a2a.CancelTaskRequest{ID: task.ID})
			both <- err
		}()
	}
	for range cap(both) {
		<-asked
	}
	close(held)
	for range cap(both) {
		if err := <-both; err != nil {
			t.Errorf("two cancels at the same time: %v", err)
		}
	}
	_, err := e.CancelTask(v0, &a2a.CancelTaskRequest{ID: task.ID})
	wantError(t, err, a2a.ErrTaskNotCancelable, "has ended already (TASK_STATE_CANCELED)")
	if _, err := cancelTask(t, e, task.ID); err != nil {
		t.Errorf("in 1.0: %v", err)
	}
}

func TestCancelRunning(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	stream := listen(e.SendStreamingMessage(t.Context(), request("m1", "c", "one")))
	j := r.next(t).start()
	j.say("a", "half a ")
	id := a2a.TaskID("")
	for id == "" {
		if seen := stream.seen(); len(seen) > 0 {
			id = seen[0].TaskInfo().TaskID
		}
	}
	task, err := cancelTask(t, e, id)
	if err != nil || task.Status.State != a2a.TaskStateCanceled || content(task)["a"] != "half a " {
		t.Fatalf("canceled = %+v, %v", task, err)
	}
	events := stream.wait(t)
	if got := show(events[len(events)-1]); got != "status canceled" {
		t.Errorf("the stream ends with %q", got)
	}
	_, err = e.SendMessage(t.Context(), func() *a2a.SendMessageRequest {
		req := request("m2", "", "more")
		req.Message.TaskID = id
		return req
	}())
	wantError(t, err, a2a.ErrUnsupportedOperation, "has ended")
}

func TestCancelEndsWaitingTurnsBeforeTheRunningOne(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	task := begin(t, e, request("m1", "c", "one"))
	ids := []string{r.next(t).start().ID}
	for _, id := range []string{"m2", "m3"} {
		req := request(id, "", "more")
		req.Message.TaskID = task.ID
		begin(t, e, req)
		ids = append(ids, r.next(t).ID)
	}
	canceled, err := cancelTask(t, e, task.ID)
	if err != nil || canceled.Status.State != a2a.TaskStateCanceled {
		t.Fatalf("canceled = %+v, %v", canceled, err)
	}
	slices.Reverse(ids)
	if !slices.Equal(r.canceled, ids) {
		t.Errorf("canceled %v, want %v", r.canceled, ids)
	}
}

// TestCancelThatEndsSomeTurns: the running turn completes, but a message of the
// task was not answered because of the cancel.
func TestCancelThatEndsSomeTurns(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	task := begin(t, e, request("m1", "c", "one"))
	first := r.next(t).start()
	r.onCancel = func(j *job) {
		if j == first {
			j.answer("just in time")
			return
		}
		j.end(agent.Ended{Outcome: agent.Canceled})
	}
	req := request("m2", "", "more")
	req.Message.TaskID = task.ID
	begin(t, e, req)
	canceled, err := cancelTask(t, e, task.ID)
	if err != nil || canceled.Status.State != a2a.TaskStateCanceled || len(canceled.Artifacts) != 1 {
		t.Errorf("canceled = %+v, %v; want it canceled, with the first answer", canceled, err)
	}
}

func TestCancelTooLate(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	_, err := cancelTask(t, e, "nope")
	wantError(t, err, a2a.ErrTaskNotFound, "nope")
	_, err = e.CancelTask(t.Context(), nil)
	wantError(t, err, a2a.ErrInvalidParams, "missing")
	done := begin(t, e, request("m1", "c", "one"))
	r.next(t).start().answer("done")
	_, err = cancelTask(t, e, done.ID)
	wantError(t, err, a2a.ErrTaskNotCancelable, "ended already")
	r.onCancel = func(j *job) { j.answer("just in time") }
	racing := begin(t, e, request("m2", "c", "two"))
	r.next(t).start()
	_, err = cancelTask(t, e, racing.ID)
	wantError(t, err, a2a.ErrTaskNotCancelable, "COMPLETED")
}

func TestCallerWhoLeavesDoesNotStopTheCancel(t *testing.T) {
	r := newRunner()
	asked, goOn := make(chan struct{}), make(chan struct{})
	r.onCancel = func(j *job) {
		close(asked)
		<-goOn
		j.end(agent.Ended{Outcome: agent.Canceled})
	}
	e := newEngine(t, r)
	task := begin(t, e, request("m1", "c", "one"))
	r.next(t).start()
	ctx, leave := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		_, err := e.CancelTask(ctx, &a2a.CancelTaskRequest{ID: task.ID})
		failed <- err
	}()
	<-asked
	req := request("m2", "", "more")
	req.Message.TaskID = task.ID
	_, err := e.SendMessage(t.Context(), req)
	wantError(t, err, a2a.ErrUnsupportedOperation, "being canceled")
	leave()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want that of the context", err)
	}
	close(goOn)
	settled, err := e.SendMessage(t.Context(), request("m1", "c", "one"))
	if err != nil || settled.(*a2a.Task).Status.State != a2a.TaskStateCanceled {
		t.Errorf("task = %+v, %v; want it canceled", settled, err)
	}
}

func TestCloseWaitsForTasks(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	stream := listen(e.SendStreamingMessage(t.Context(), request("m1", "c", "one")))
	j := r.next(t).start()
	closed := make(chan error)
	go func() { closed <- e.Close(t.Context()) }()
	for i := 0; ; i++ { // until Close has begun
		req := request(fmt.Sprintf("late-%d", i), "d", "two")
		req.Config.ReturnImmediately = true
		if _, err := e.SendMessage(t.Context(), req); err != nil {
			wantError(t, err, a2a.ErrServerError, "stopping")
			break
		}
		r.next(t).start().answer("ok")
	}
	select {
	case err := <-closed:
		t.Fatalf("Close returned %v while a task runs", err)
	case <-time.After(20 * time.Millisecond):
	}
	j.end(agent.Ended{Outcome: agent.Interrupted, Failure: &agent.Failure{Kind: agent.FailShutdown, Message: "stopped; send it again"}})
	if err := <-closed; err != nil {
		t.Errorf("Close: %v", err)
	}
	events := stream.wait(t)
	wantError(t, stream.err, a2a.ErrServerError, "stopping")
	if err := e.Close(t.Context()); err != nil {
		t.Errorf("closed twice: %v", err)
	}
	// No tool of the turn has started: the next process runs it again.
	if got := get(t, e, events[0].(*a2a.Task).ID); got.Status.State != a2a.TaskStateWorking {
		t.Errorf("a closed engine gives %+v", got)
	}
}

func TestCloseEndsATurnWithATool(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	stream := listen(e.SendStreamingMessage(t.Context(), request("m1", "c", "one")))
	j := r.next(t).start()
	closed := make(chan error)
	go func() { closed <- e.Close(t.Context()) }()
	j.end(agent.Ended{Outcome: agent.Interrupted, Tools: true, Failure: &agent.Failure{Kind: agent.FailShutdown, Message: "stopped; send it again"}})
	if err := <-closed; err != nil {
		t.Errorf("Close: %v", err)
	}
	events := stream.wait(t)
	last := events[len(events)-1].(*a2a.TaskStatusUpdateEvent)
	if last.Status.State != a2a.TaskStateFailed || last.Metadata[keys.Interrupted] != true || stream.err != nil {
		t.Errorf("the stream ends with %+v, %v", last, stream.err)
	}
	if got := get(t, e, last.TaskID); got.Status.State != a2a.TaskStateFailed {
		t.Errorf("a closed engine gives %+v", got)
	}
}

func TestCloseOutOfPatience(t *testing.T) {
	r := newRunner()
	asked := make(chan struct{})
	r.onCancel = func(*job) { close(asked) } // and does not end the job
	e := newEngine(t, r)
	stream := listen(e.SendStreamingMessage(t.Context(), request("m1", "c", "one")))
	waiting := make(chan error, 2)
	go func() {
		_, err := e.SendMessage(t.Context(), request("m1", "c", "one"))
		waiting <- err
	}()
	j := r.next(t).start()
	j.say("a", "1")
	j.say("a", "2") // arms the timer
	id := get(t, e, a2a.TaskID(j.ID[:36])).ID
	go func() {
		_, err := e.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: id})
		waiting <- err
	}()
	<-asked
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := e.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Close = %v, want the end of its patience", err)
	}
	stream.wait(t)
	wantError(t, stream.err, a2a.ErrServerError, "stopping")
	wantError(t, <-waiting, a2a.ErrServerError, "stopping")
	wantError(t, <-waiting, a2a.ErrServerError, "stopping")
	j.say("a", "3")
	j.answer("too late")
}
