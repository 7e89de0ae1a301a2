package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
)

// childEnv names what the test binary does instead of running tests.
const childEnv = "STORE_TEST_CHILD"

func TestMain(m *testing.M) {
	if name := os.Getenv(childEnv); name != "" {
		children[name]()
		return
	}
	leaktest.Main(m)
}

// open returns a store in dir that is closed with the test.
func open(t testing.TB, cfg Config) *Store {
	t.Helper()
	if cfg.Dir == "" {
		cfg.Dir = t.TempDir()
	}
	s, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeStore(t, s) })
	return s
}

func closeStore(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error is %v, want %v", err, want)
	}
}

func equal[T any](t testing.TB, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("differs (-want +got):\n%s", diff)
	}
}

// message returns the i-th message of a task, and the task's head.
func message(i int, task string) (Message, Head) {
	return Message{
			Key:    Key{Caller: "caller", Context: "context", Task: "", Message: fmt.Sprintf("message-%d", i)},
			Digest: [32]byte{byte(i), 1}, TaskID: task, Job: fmt.Sprintf("job-%d", i), Conversation: "conversation",
			Body: fmt.Appendf(nil, "text %d", i),
		}, Head{
			ID: task, Context: "context", Conversation: "conversation", State: "submitted",
			At: time.Unix(1000, 5).UTC(), Body: []byte(`{"state":"submitted"}`),
		}
}

// accept accepts the i-th message as one of a task.
func accept(t testing.TB, s *Store, i int, task string) (Message, Head) {
	t.Helper()
	m, h := message(i, task)
	must(t, s.Accept(t.Context(), m, h))
	return m, h
}

func TestMessageFromAcceptanceToEnd(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	ctx := t.Context()
	want, head := accept(t, s, 1, "task")
	body, err := s.Body(ctx, want.Job)
	must(t, err)
	equal(t, body, want.Body)
	wantErr(t, second(s.Body(ctx, "other")), ErrUnknown)
	want.Seq = 1
	check := func(what string) {
		t.Helper()
		got, err := s.Message(ctx, want.Key)
		must(t, err)
		if got.Body != nil {
			t.Errorf("%s: the body is read where it is not asked for", what)
		}
		got.Body = want.Body
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", what, diff)
		}
	}
	check("accepted")

	must(t, s.Begin(ctx, "job-1", 1, "conversation", "thread-1", "", ""))
	want.Attempt, want.Thread = 1, "thread-1"
	check("begun")
	must(t, s.Write(ctx, Change{Turn: &Turn{Job: "job-1", Attempt: 1, TurnID: "turn-1"}}))
	must(t, s.Write(ctx, Change{Turn: &Turn{Job: "job-1", Attempt: 1, Tool: true}}))
	must(t, s.Write(ctx, Change{Turn: &Turn{Job: "job-1", Attempt: 1}}))
	want.Turn, want.Tool = "turn-1", true
	check("a tool has started")

	must(t, s.Begin(ctx, "job-1", 1, "conversation", "thread-1", "", ""))
	check("begun once more")
	wantErr(t, s.Begin(ctx, "job-1", 1, "conversation", "thread-2", "", ""), ErrBegun)
	for range 2 { // once is as good as twice
		n, err := s.Vanished(ctx, "job-1", 1)
		must(t, err)
		equal(t, n, 1)
	}
	check("vanished")
	must(t, s.Begin(ctx, "job-1", 2, "conversation", "thread-2", "", ""))
	want.Attempt, want.Thread, want.Turn, want.Tool = 2, "thread-2", "", false
	check("begun again")

	head.State, head.Ended, head.Body = "completed", true, []byte("the end")
	must(t, s.Write(ctx, Change{Head: &head, Ended: []string{"job-1"}, Artifacts: [][]byte{[]byte("a"), nil}}))
	want.Ended = true
	closeStore(t, s)
	s = open(t, Config{Dir: dir})
	check("after a restart")
	n, err := s.Vanished(ctx, "job-1", 2)
	must(t, err)
	equal(t, n, 2)
	task, err := s.Task(ctx, "task")
	must(t, err)
	equal(t, task, Task{Head: head, Epoch: 1, History: [][]byte{want.Body}, Artifacts: [][]byte{[]byte("a"), nil}})
	thread, err := s.Thread(ctx, "conversation")
	must(t, err)
	equal(t, thread, "thread-2")
	for conversation, want := range map[string]bool{"conversation": true, "other": false} {
		used, err := s.ConversationUsed(ctx, conversation)
		must(t, err)
		equal(t, used, want)
	}
	for thread, want := range map[string]bool{"thread-2": true, "other": false} {
		turned, err := s.ThreadUsed(ctx, thread)
		must(t, err)
		equal(t, turned, want)
	}
}

func TestWhatIsNotThere(t *testing.T) {
	s := open(t, Config{})
	ctx := t.Context()
	accept(t, s, 1, "task")
	for name, err := range map[string]error{
		"message":  second(s.Message(ctx, Key{Message: "other"})),
		"task":     second(s.Task(ctx, "other")),
		"head":     second(s.Head(ctx, "other")),
		"events":   second(s.Events(ctx, "other", 0, 1)),
		"begin":    s.Begin(ctx, "other", 1, "c", "t", "", ""),
		"vanished": second(s.Vanished(ctx, "other", 1)),
		"withdraw": s.Withdraw(ctx, "other", nil),
		"change":   s.Write(ctx, Change{Task: "other", Epoch: 1}),
		"turn":     s.Write(ctx, Change{Turn: &Turn{Job: "other", Attempt: 1, Tool: true}}),
		"job":      s.Write(ctx, Change{Ended: []string{"other"}}),
		"push":     s.SetPush(ctx, "other", Push{ID: "p"}),
		"no-push":  s.DropPush(ctx, "task", "p"),
	} {
		if !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: %v, want ErrUnknown", name, err)
		}
	}
	thread, err := s.Thread(ctx, "other")
	must(t, err)
	equal(t, thread, "")
}

func second[T any](_ T, err error) error { return err }

func TestSameKey(t *testing.T) {
	s := open(t, Config{})
	ctx := t.Context()
	accept(t, s, 1, "task")

	again, head := message(1, "task-2")
	again.Job = "job-2"
	wantErr(t, s.Accept(ctx, again, head), ErrExists)
	wantErr(t, second(s.Task(ctx, "task-2")), ErrUnknown) // nothing of it is kept

	for _, key := range []Key{
		{Caller: "other", Context: "context", Message: "message-1"},
		{Caller: "caller", Context: "other", Message: "message-1"},
		{Caller: "caller", Context: "context", Task: "task", Message: "message-1"},
	} {
		wantErr(t, second(s.Message(ctx, key)), ErrUnknown)
	}

	must(t, s.Replace(ctx, again, head))
	got, err := s.Message(ctx, again.Key)
	must(t, err)
	equal(t, got.Job, "job-2")
	must(t, s.Begin(ctx, "job-1", 1, "conversation", "thread", "", "")) // the message that lost its key is still one

	for i := range 2 { // messages without an id are all different
		m, h := message(10+i, "task-3")
		m.Key.Message = ""
		must(t, s.Accept(ctx, m, h))
	}
}

func TestWithdraw(t *testing.T) {
	s := open(t, Config{})
	ctx := t.Context()
	first, head := accept(t, s, 1, "task")
	more, _ := message(2, "task")
	changed := head
	changed.State = "working"
	must(t, s.Accept(ctx, more, changed))
	must(t, s.SetPush(ctx, "task", Push{ID: "p", Body: []byte("b")}))

	must(t, s.Withdraw(ctx, more.Job, &head))
	wantErr(t, second(s.Message(ctx, more.Key)), ErrUnknown)
	task, err := s.Task(ctx, "task")
	must(t, err)
	equal(t, task, Task{Head: head, Epoch: 1, History: [][]byte{first.Body}})
	alone, err := s.Head(ctx, "task")
	must(t, err)
	equal(t, alone, head)

	must(t, s.Begin(ctx, first.Job, 1, "conversation", "thread", "", ""))
	wantErr(t, s.Withdraw(ctx, first.Job, nil), ErrBegun)

	accept(t, s, 3, "task-3")
	must(t, s.Withdraw(ctx, "job-3", nil))
	wantErr(t, second(s.Task(ctx, "task-3")), ErrUnknown)
	accept(t, s, 3, "task-3") // its key and its id are free again
	task, err = s.Task(ctx, "task-3")
	must(t, err)
	equal(t, len(task.History), 1)
}

func TestEvents(t *testing.T) {
	s := open(t, Config{})
	ctx := t.Context()
	accept(t, s, 1, "task")
	batches := []Events{
		{First: 1, Last: 1, Epoch: 1, Body: []byte("a")},
		{First: 2, Last: 9, Epoch: 1, Body: []byte("b")},
		{First: 12, Last: 20, Epoch: 2, Body: []byte("c")},
	}
	must(t, s.Write(ctx, Change{Task: "task", Epoch: 1, Events: batches[:1]}))
	must(t, s.Write(ctx, Change{Task: "task", Epoch: 2, Events: batches[1:]}))
	task, err := s.Task(ctx, "task")
	must(t, err)
	equal(t, []int64{int64(task.Epoch), task.LastSeq}, []int64{2, 20})
	for after, want := range map[int64][]Events{
		0: batches, 1: batches[1:], 5: batches[1:], 8: batches[1:], 9: batches[2:], 11: batches[2:], 12: batches[2:], 19: batches[2:], 20: nil, 99: nil,
	} {
		got, err := s.Events(ctx, "task", after, 10)
		must(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("after %d (-want +got):\n%s", after, diff)
		}
	}
	for most, want := range map[int]int{0: 1, 1: 1, 2: 2, 3: 3} {
		got, err := s.Events(ctx, "task", 0, most)
		must(t, err)
		equal(t, got, batches[:want])
	}

	for _, wrong := range []Events{{First: 20, Last: 21}, {First: 1, Last: 1}, {First: 22, Last: 21}} {
		if err := s.Write(ctx, Change{Task: "task", Epoch: 9, Events: []Events{wrong}}); err == nil {
			t.Errorf("events %d to %d were taken", wrong.First, wrong.Last)
		}
	}
	task, err = s.Task(ctx, "task")
	must(t, err)
	equal(t, task.Epoch, 2) // a change that fails leaves nothing behind
}

func TestUnfinished(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	ctx := t.Context()
	asked := Question{ID: "q", Body: []byte("may I?"), Asked: time.Unix(7, 0).UTC(), Deadline: time.Unix(8, 0).UTC()}
	want := map[string][]string{"b": {"job-1", "job-3"}, "a": {"job-2"}, "asks": nil, "ended-too-early": {"job-6"}}
	for i, task := range []string{"b", "a", "b", "asks", "done", "ended-too-early"} {
		accept(t, s, i+1, task)
	}
	_, done := message(5, "done")
	done.Ended = true
	must(t, s.Write(ctx, Change{Head: &done, Ended: []string{"job-5"}}))
	_, early := message(6, "ended-too-early")
	early.Ended = true
	must(t, s.Write(ctx, Change{Head: &early}))
	must(t, s.Write(ctx, Change{Task: "asks", Ended: []string{"job-4"}, Ask: []Question{asked, {ID: "r"}}}))
	must(t, s.Write(ctx, Change{Task: "asks", Drop: []string{"r"}}))
	must(t, s.Begin(ctx, "job-2", 1, "conversation", "thread", "", ""))
	closeStore(t, s)

	s = open(t, Config{Dir: dir})
	open, err := s.Unfinished(ctx)
	must(t, err)
	got, order := map[string][]string{}, []string{}
	for _, o := range open {
		order = append(order, o.Task.ID)
		got[o.Task.ID] = nil
		for _, m := range o.Messages {
			got[o.Task.ID] = append(got[o.Task.ID], m.Job)
		}
		if o.Task.ID == "asks" {
			equal(t, o.Questions, []Question{asked})
		}
		if o.Task.ID == "b" {
			equal(t, o.Task.History, [][]byte{[]byte("text 1"), []byte("text 3")})
		}
		if o.Task.ID == "a" {
			equal(t, o.Messages[0].Thread, "thread")
		}
	}
	equal(t, got, want)
	equal(t, order, []string{"b", "a", "asks", "ended-too-early"})
}

func TestTimesAreExact(t *testing.T) {
	for _, at := range []time.Time{{}, time.Unix(1, 1).UTC(), time.Date(2026, 1, 2, 3, 4, 5, 678901234, time.UTC)} {
		if got := instant(nanos(at)); !got.Equal(at) {
			t.Errorf("%v became %v", at, got)
		}
	}
}

func TestAfterClose(t *testing.T) {
	s := open(t, Config{})
	closeStore(t, s)
	closeStore(t, s)
	m, h := message(1, "task")
	wantErr(t, s.Accept(t.Context(), m, h), ErrClosed)
	wantErr(t, second(s.Task(t.Context(), "task")), ErrClosed)
}

func TestOpenWithEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Open(ctx, Config{Dir: t.TempDir()})
	wantErr(t, err, context.Canceled)
}
