package tasks_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
)

func TestBlockingSend(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	go func() {
		j := r.next(t).start()
		j.say("c", "let me see")
		j.whole("c", "let me see", agent.PhaseCommentary)
		j.whole("f", "the answer", agent.PhaseFinalAnswer)
		j.end(agent.Ended{
			Outcome: agent.Completed, Diff: "--- a\n+++ b\n",
			Usage: agent.Usage{InputTokens: 7, TotalTokens: 9},
		})
	}()
	result, err := e.SendMessage(t.Context(), &a2a.SendMessageRequest{Message: message("m1", "hi")})
	if err != nil {
		t.Fatal(err)
	}
	task := result.(*a2a.Task)
	if task.Status.State != a2a.TaskStateCompleted || task.ContextID == "" || task.Status.Timestamp.Location().String() != "UTC" {
		t.Errorf("task = %+v, want it completed, in a context, at a time in UTC", task)
	}
	want := []string{`c="let me see"`, `diff="--- a\n+++ b\n"`, `f="the answer"`}
	if diff := cmp.Diff(want, texts(task)); diff != "" {
		t.Errorf("artifacts, the reply last (-want +got):\n%s", diff)
	}
	if task.Status.Message != nil {
		t.Errorf("the final status says %+v, want the answer to be there once", task.Status.Message)
	}
	if got := task.Artifacts[0].Metadata[keys.Phase]; got != "commentary" {
		t.Errorf("phase of the commentary = %v", got)
	}
	if got := task.Artifacts[1]; got.Name != "diff" || got.Parts[0].MediaType != "text/x-diff" {
		t.Errorf("diff = %+v", got)
	}
	usage := task.Metadata[keys.Usage].(map[string]any)
	if task.Metadata[keys.Reply] != "f" || usage["inputTokens"] != 7.0 || task.Metadata[keys.ThreadID] != "thread" {
		t.Errorf("metadata = %v", task.Metadata)
	}
	if h := task.History; len(h) != 1 || h[0].TaskID != task.ID || h[0].ContextID != task.ContextID || h[0].Parts[0].Text() != "hi" {
		t.Errorf("history = %+v, want the message with its ids", h)
	}
	if diff := cmp.Diff(task, get(t, e, task.ID)); diff != "" {
		t.Errorf("what is kept differs from the answer:\n%s", diff)
	}
}

func TestCallerWhoLeavesDoesNotStopTheTurn(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	ctx, leave := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		_, err := e.SendMessage(ctx, request("m1", "c", "hi"))
		failed <- err
	}()
	j := r.next(t).start()
	leave()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want that of the context", err)
	}
	j.answer("done")
	again, err := e.SendMessage(t.Context(), request("m1", "c", "hi"))
	if err != nil {
		t.Fatal(err)
	}
	if got := again.(*a2a.Task).Status.State; got != a2a.TaskStateCompleted {
		t.Errorf("state = %s, want the turn completed", got)
	}
	if len(r.canceled) != 0 {
		t.Errorf("canceled %v", r.canceled)
	}
}

func TestReturnImmediately(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	first := begin(t, e, request("m1", "c", "one"))
	second := begin(t, e, request("m2", "c", "two"))
	if first.Status.State != a2a.TaskStateSubmitted || first.Metadata[keys.Turn] != keys.TurnStarted {
		t.Errorf("first = %s %v, want it submitted and its turn started", first.Status.State, first.Metadata)
	}
	if second.Metadata[keys.Turn] != keys.TurnQueued || second.Metadata[keys.Ahead] != 1 {
		t.Errorf("second = %v, want it queued with one ahead", second.Metadata)
	}
	r.next(t).start().answer("1")
	r.next(t).start()
	if now := get(t, e, second.ID); now.Metadata[keys.Turn] != keys.TurnStarted || now.Metadata[keys.Ahead] != nil {
		t.Errorf("metadata = %v, want the second turn started", now.Metadata)
	}
}

func TestHistoryLength(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	task := begin(t, e, request("m1", "c", "one"))
	for i := range 3 {
		req := request(fmt.Sprintf("f%d", i), "", "more")
		req.Message.TaskID = task.ID
		begin(t, e, req)
	}
	for n, want := range map[int]int{0: 0, 2: 2, 9: 4} {
		got, err := e.GetTask(t.Context(), &a2a.GetTaskRequest{ID: task.ID, HistoryLength: &n})
		if err != nil || len(got.History) != want {
			t.Errorf("historyLength %d: %d messages, %v; want %d", n, len(got.History), err, want)
		}
		if want == 2 && got.History[1].ID != "f2" {
			t.Errorf("the last message is %s, want the newest", got.History[1].ID)
		}
		req := request("m1", "c", "one")
		req.Config.HistoryLength = &n
		if again := begin(t, e, req); len(again.History) != want {
			t.Errorf("sending with historyLength %d: %d messages, want %d", n, len(again.History), want)
		}
	}
	n := -1
	_, err := e.GetTask(t.Context(), &a2a.GetTaskRequest{ID: task.ID, HistoryLength: &n})
	wantError(t, err, a2a.ErrInvalidParams, "negative")
	_, err = e.SendMessage(t.Context(), &a2a.SendMessageRequest{Message: message("x", "x"), Config: &a2a.SendMessageConfig{HistoryLength: &n}})
	wantError(t, err, a2a.ErrInvalidParams, "negative")
}

func TestSameMessageIsTheSameTask(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	const callers = 32
	ids := make(chan a2a.TaskID, callers)
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			result, err := e.SendMessage(t.Context(), request("m1", "c", "hi"))
			if err != nil {
				t.Error(err)
				return
			}
			task := result.(*a2a.Task)
			ids <- task.ID
			if got := strings.Join(texts(task), " "); !strings.Contains(got, "same") {
				t.Errorf("artifacts = %s", got)
			}
		})
	}
	r.next(t).start().answer("same")
	wg.Wait()
	close(ids)
	first := <-ids
	for id := range ids {
		if id != first {
			t.Errorf("tasks %s and %s of one message", id, first)
		}
	}
	if n := r.count(); n != 1 {
		t.Errorf("%d turns of one message", n)
	}
	_, err := e.SendMessage(t.Context(), request("m1", "c", "something else"))
	wantError(t, err, a2a.ErrInvalidParams, "used before with other content")
	if other := begin(t, e, request("m1", "other", "hi")); other.ID == first {
		t.Error("the same id in another context is the same task")
	}
	rewritten := request("m1", "c", "hi")
	rewritten.Message.Parts[0].Metadata = map[string]any{"kind": "text"}
	rewritten.Message.Metadata = map[string]any{"history": []any{}}
	if again := begin(t, e, rewritten); again.ID != first {
		t.Error("rewritten metadata makes another task")
	}
	stream := listen(e.SendStreamingMessage(t.Context(), request("m1", "c", "hi")))
	if got := showAll(stream.wait(t)); !strings.HasPrefix(got, "task completed") || strings.Contains(got, "\n") {
		t.Errorf("repeated as a stream:\n%s\nwant the task and the end", got)
	}
}

func TestFollowUpIsAFurtherTurn(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	task := begin(t, e, request("m1", "c", "one"))
	first := r.next(t).start()
	watcher := follow(t, e, task.ID)
	follow := request("m1", "", "one") // with a task it is another message than the first
	follow.Message.TaskID = task.ID
	queued := begin(t, e, follow)
	if queued.ID != task.ID || queued.ContextID != "c" || queued.Metadata[keys.Turn] != keys.TurnQueued || queued.Metadata[keys.Ahead] != 1 {
		t.Errorf("follow-up = %s %v, want the task itself, queued behind one", queued.ID, queued.Metadata)
	}
	first.end(agent.Ended{
		Outcome: agent.Completed, Usage: agent.Usage{TotalTokens: 5},
		Messages: []agent.Message{{ItemID: "m-" + first.ID, Text: "1"}},
	})
	if now := get(t, e, task.ID); now.Status.State != a2a.TaskStateWorking {
		t.Errorf("state after the first turn = %s, want it working", now.Status.State)
	}
	second := r.next(t).start()
	if second.Context != "c" || second.ID == first.ID {
		t.Errorf("second job = %+v", second.Job)
	}
	second.end(agent.Ended{
		Outcome: agent.Completed, Usage: agent.Usage{TotalTokens: 7},
		Messages: []agent.Message{{ItemID: "m-" + second.ID, Text: "2"}},
	})
	watcher.wait(t)
	done := get(t, e, task.ID)
	if got := strings.Join(texts(done), " "); done.Status.State != a2a.TaskStateCompleted || !strings.HasPrefix(got, "m-"+first.ID) || len(done.Artifacts) != 2 || len(done.History) != 2 {
		t.Errorf("task = %s %s with %d messages, want both answers, in their order", done.Status.State, got, len(done.History))
	}
	if usage := done.Metadata[keys.Usage].(map[string]any); usage["totalTokens"] != 12.0 {
		t.Errorf("usage = %v, want that of both turns", usage)
	}
	if again := begin(t, e, follow); again.ID != task.ID || r.count() != 2 {
		t.Error("the follow-up repeated is another turn")
	}
	late := request("m9", "", "late")
	late.Message.TaskID = task.ID
	_, err := e.SendMessage(t.Context(), late)
	wantError(t, err, a2a.ErrUnsupportedOperation, "has ended")
}

func TestRefusedMessages(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	task := begin(t, e, request("m0", "c", "one"))
	n := -3
	cases := map[string]struct {
		change   func(*a2a.SendMessageRequest)
		sentinel error
		words    string
	}{
		"no-message":    {func(r *a2a.SendMessageRequest) { r.Message = nil }, a2a.ErrInvalidParams, "message is missing"},
		"no-id":         {func(r *a2a.SendMessageRequest) { r.Message.ID = "" }, a2a.ErrInvalidParams, "messageId"},
		"ours":          {func(r *a2a.SendMessageRequest) { r.Message.ContextID = "command:c" }, a2a.ErrInvalidParams, "the runtime's own"},
		"long-id":       {func(r *a2a.SendMessageRequest) { r.Message.ID = strings.Repeat("x", 513) }, a2a.ErrInvalidParams, "longer"},
		"no-parts":      {func(r *a2a.SendMessageRequest) { r.Message.Parts = nil }, a2a.ErrInvalidParams, "parts"},
		"nil-part":      {func(r *a2a.SendMessageRequest) { r.Message.Parts = a2a.ContentParts{nil} }, a2a.ErrInvalidParams, "parts"},
		"part-of-none":  {func(r *a2a.SendMessageRequest) { r.Message.Parts = a2a.ContentParts{{}} }, a2a.ErrInvalidParams, "parts"},
		"blank":         {func(r *a2a.SendMessageRequest) { r.Message.Parts[0] = a2a.NewTextPart(" \n\t") }, a2a.ErrInvalidParams, "empty"},
		"agent":         {func(r *a2a.SendMessageRequest) { r.Message.Role = a2a.MessageRoleAgent }, a2a.ErrInvalidParams, "role"},
		"wizard":        {func(r *a2a.SendMessageRequest) { r.Message.Role = "wizard" }, a2a.ErrInvalidParams, "wizard"},
		"history":       {func(r *a2a.SendMessageRequest) { r.Config.HistoryLength = &n }, a2a.ErrInvalidParams, "-3"},
		"push":          {func(r *a2a.SendMessageRequest) { r.Config.PushConfig = &a2a.PushConfig{} }, a2a.ErrPushNotificationNotSupported, "not supported"},
		"unknown-task":  {func(r *a2a.SendMessageRequest) { r.Message.TaskID = "nope" }, a2a.ErrTaskNotFound, "nope"},
		"other-context": {func(r *a2a.SendMessageRequest) { r.Message.TaskID, r.Message.ContextID = task.ID, "d" }, a2a.ErrInvalidParams, "another context"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			req := request("m1", "", "hi")
			c.change(req)
			_, err := e.SendMessage(t.Context(), req)
			wantError(t, err, c.sentinel, c.words)
			wantError(t, refused(t, e.SendStreamingMessage(t.Context(), req)), c.sentinel, c.words)
		})
	}
	if _, err := e.SendMessage(t.Context(), nil); !errors.Is(err, a2a.ErrInvalidParams) {
		t.Errorf("no request: %v", err)
	}
	if n := r.count(); n != 1 {
		t.Errorf("%d jobs were submitted, want the first alone", n)
	}
}

func TestRefusedByTheRunner(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	r.refuse = fmt.Errorf("%w: 32 of them", executor.ErrQueueFull)
	_, err := e.SendMessage(t.Context(), request("m1", "c", "hi"))
	wantError(t, err, a2a.ErrServerError, "too many messages")
	r.refuse = executor.ErrClosed
	_, err = e.SendMessage(t.Context(), request("m1", "c", "hi"))
	wantError(t, err, a2a.ErrServerError, "stopping")
	r.refuse = errors.New("sqlite: /secret/path is broken")
	_, err = e.SendMessage(t.Context(), request("m1", "c", "hi"))
	wantError(t, err, a2a.ErrInternalError, "could not be queued")
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the error tells internals: %v", err)
	}
	if list, _ := e.ListTasks(t.Context(), nil); len(list.Tasks) != 0 {
		t.Errorf("refused messages left %d tasks", len(list.Tasks))
	}
	r.refuse = nil
	task := begin(t, e, request("m1", "c", "hi")) // its sender tries again
	r.refuse = executor.ErrQueueFull
	follow := request("m2", "", "more")
	follow.Message.TaskID = task.ID
	_, err = e.SendMessage(t.Context(), follow)
	wantError(t, err, a2a.ErrServerError, "too many messages")
	r.next(t).start().answer("ok")
	if now := get(t, e, task.ID); now.Status.State != a2a.TaskStateCompleted || len(now.History) != 1 {
		t.Errorf("task = %s with %d messages, want it completed without the refused one", now.Status.State, len(now.History))
	}
}

// TestRefusedMessageTakesNoNumber: the next one has it, also in the next process, unless
// the journal could not take the refused one back.
func TestRefusedMessageTakesNoNumber(t *testing.T) {
	for name, want := range map[string]float64{"withdrawn": 2, "kept": 3} {
		t.Run(name, func(t *testing.T) {
			r := newRunner()
			journal := &brokenJournal{Journal: newJournal(t)}
			e := newEngine(t, r, func(c *tasks.Config) { c.Journal = journal })
			task := begin(t, e, request("m1", "c", "hi"))
			first := r.next(t)
			r.refuse = executor.ErrQueueFull
			journal.keeps.Store(name == "kept")
			_, err := e.SendMessage(t.Context(), to(task, "m2", "refused"))
			wantError(t, err, a2a.ErrServerError, "too many messages")
			r.refuse = nil
			follow := to(task, "m3", "more")
			follow.Config.ReturnImmediately = true
			send(t, e, follow)
			first.start().answer("one")
			second := r.next(t).start()
			if got := get(t, e, task.ID).Metadata[keys.Message]; got != want {
				t.Errorf("the message is number %v, want %v", got, want)
			}
			second.answer("two")
		})
	}
}

// TestTurnThatEndsWhileItsFollowUpIsRefused: the task must end all the same.
func TestTurnThatEndsWhileItsFollowUpIsRefused(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	task := begin(t, e, request("m1", "c", "hi"))
	first := r.next(t).start()
	r.gate = make(chan struct{})
	r.refuse = executor.ErrQueueFull
	follow := request("m2", "", "more")
	follow.Message.TaskID = task.ID
	failed := make(chan error)
	go func() {
		_, err := e.SendMessage(t.Context(), follow)
		failed <- err
	}()
	<-r.gate
	first.answer("ok")
	if now := get(t, e, task.ID); now.Status.State.Terminal() {
		t.Errorf("state = %s while a message of the task is being queued", now.Status.State)
	}
	r.gate <- struct{}{}
	wantError(t, <-failed, a2a.ErrServerError, "too many")
	if now := get(t, e, task.ID); now.Status.State != a2a.TaskStateCompleted {
		t.Errorf("state = %s", now.Status.State)
	}
}

func TestEventsBeforeSubmitReturns(t *testing.T) {
	r := newRunner()
	r.onSubmit = func(j *job) {
		j.start()
		j.answer("quick")
	}
	e := newEngine(t, r)
	stream := listen(e.SendStreamingMessage(t.Context(), request("m1", "c", "hi")))
	j := r.next(t)
	want := "task submitted\nstatus working\nnew m-" + j.ID + ` "quick" last` + "\nstatus completed"
	if diff := cmp.Diff(want, showAll(stream.wait(t))); diff != "" {
		t.Errorf("stream (-want +got):\n%s", diff)
	}
}

func TestThreadsNamesTheConversation(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r, func(c *tasks.Config) {
		c.Threads = func(given, _ string) string {
			if given == "" {
				return "main"
			}
			return given
		}
	})
	begin(t, e, request("m1", "", "hi"))
	begin(t, e, request("m2", "side", "hi"))
	if a, b := r.next(t), r.next(t); a.Context != "main" || b.Context != "side" {
		t.Errorf("conversations = %q, %q", a.Context, b.Context)
	}
}
