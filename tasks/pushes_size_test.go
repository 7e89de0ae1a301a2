package tasks_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/push"
)

// setV0 makes settings of receivers of A2A 0.3.
func setV0(t testing.TB, e *tasks.Engine, id a2a.TaskID, count int) {
	t.Helper()
	for i := range count {
		c := &a2a.PushConfig{TaskID: id, ID: fmt.Sprintf("old%d", i), URL: hook}
		if _, err := e.CreateTaskPushConfig(tasks.WithV0(t.Context()), c); err != nil {
			t.Fatal(err)
		}
	}
}

// toldV0 says what receivers of 0.3 were told: the state, the messages of the history and
// the artifacts.
func toldV0(t testing.TB, all []string) (out []string) {
	t.Helper()
	for _, n := range all {
		head, payload, _ := strings.Cut(n, "\n")
		if !strings.Contains(head, " "+push.V0+" ") {
			continue
		}
		var task struct {
			Kind, ID, ContextID string
			Status              struct {
				State   string
				Message any
			}
			History, Artifacts []any
		}
		if err := json.Unmarshal([]byte(payload), &task); err != nil || task.Kind != "task" || task.ID == "" || task.ContextID == "" {
			t.Fatalf("payload %s: %v", payload, err)
		}
		out = append(out, fmt.Sprint(task.Status.State, " ", task.Status.Message != nil, " ", len(task.History), " ", len(task.Artifacts)))
	}
	return out
}

// TestLargeTaskInV0: receivers of 0.3 do not get the history of a large task with each of its
// states, nor large artifacts before the end.
func TestLargeTaskInV0(t *testing.T) {
	var woken atomic.Int32
	r, st := &asker{runner: newRunner()}, newJournal(t)
	e := newEngine(t, r, pushing(&woken), func(c *tasks.Config) { c.Journal = st })
	task := begin(t, e, request("m", "ctx", strings.Repeat("x", 70<<10)))
	setV0(t, e, task.ID, 1)
	j := r.next(t).start()
	j.whole("small", "some text", "commentary")
	j.ask("q1", "which?")
	begin(t, e, to(task, "m1", "this"))
	j.whole("large", strings.Repeat("y", 70<<10), "commentary")
	j.ask("q2", "which?")
	begin(t, e, to(task, "m2", "this"))
	j.answer("done")
	want := []string{
		"working false 0 0",
		"input-required true 0 1", "working false 0 1",
		"input-required true 0 0", "working false 0 0",
		"completed false 0 3",
	}
	if got := toldV0(t, notified(t, st)); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("told (state, message, history, artifacts)\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestAnswersThatAreNotUnderstood put little into the outbox, however large the task is and
// however many settings it has.
func TestAnswersThatAreNotUnderstood(t *testing.T) {
	var woken atomic.Int32
	r, st := &asker{runner: newRunner()}, newJournal(t)
	e := newEngine(t, r, pushing(&woken), func(c *tasks.Config) { c.Journal = st })
	task := begin(t, e, request("m", "ctx", strings.Repeat("x", 1<<20)))
	setV0(t, e, task.ID, 16)
	j := r.next(t).start()
	j.ask("q", "which?")
	before := waitingBytes(t, st)
	const answers = 5
	r.late = &agent.NotUnderstoodError{Why: "That is no answer."}
	for i := range answers {
		begin(t, e, to(task, fmt.Sprint("hm", i), "hm"))
	}
	if got := waitingBytes(t, st) - before; got > answers*64<<10 {
		t.Errorf("%d answers of two letters put %d KiB into the outbox", answers, got>>10)
	}
}

func waitingBytes(t testing.TB, st *store.Store) (n int) {
	t.Helper()
	rows, err := st.Deliveries(t.Context(), push.Kind, 0, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		n += r.Size
	}
	return n
}

// TestPushesWithoutRoom: a question and an end for which there is not enough room are told as
// states alone, in both versions, and an artifact is not.
func TestPushesWithoutRoom(t *testing.T) {
	var woken atomic.Int32
	var asked atomic.Int64
	var none atomic.Bool
	var m metrics
	r, st := &asker{runner: newRunner()}, newJournal(t)
	e := newEngine(t, r, pushing(&woken), func(c *tasks.Config) {
		c.Journal, c.Metrics = st, &m
		c.Push.Reserve = func(conversation string, bytes int) bool {
			if conversation != "ctx" {
				t.Errorf("reserved for %q", conversation)
			}
			asked.Add(int64(bytes))
			return !none.Load()
		}
	})
	task := begin(t, e, withPush(request("m", "ctx", "hi"), &a2a.PushConfig{ID: "new", URL: hook}))
	setV0(t, e, task.ID, 2)
	j := r.next(t).start()
	if got := waitingBytes(t, st); got == 0 || int(asked.Load()) != got {
		t.Errorf("%d bytes were reserved for the %d that are in the outbox", asked.Load(), got)
	}
	before := len(notified(t, st))
	none.Store(true)
	j.whole("one", "some text", "commentary")
	j.ask("q", "which?")
	begin(t, e, to(task, "m2", "this"))
	j.end(agent.Ended{Outcome: agent.Completed})
	got := notified(t, st)[before:]
	if want := "input-required false 0 0|input-required false 0 0|working false 0 0|working false 0 0|completed false 0 0|completed false 0 0"; strings.Join(toldV0(t, got), "|") != want {
		t.Errorf("told in 0.3 %q, want %q", toldV0(t, got), want)
	}
	for _, n := range got {
		if strings.Contains(n, "which?") || strings.Contains(n, "some text") || len(n) > 512 {
			t.Errorf("told %s", n)
		}
	}
	if want := "new status input_required\nnew status working\nnew status completed"; told(t, onlyNew(got)) != want {
		t.Errorf("told in 1.0\n%s\nwant\n%s", told(t, onlyNew(got)), want)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !strings.Contains(strings.Join(m.calls, "\n"), "dropped 3") {
		t.Errorf("counted %v, want the artifact for each setting", m.calls)
	}
}

func onlyNew(all []string) (out []string) {
	for _, n := range all {
		if strings.HasPrefix(n, "new ") {
			out = append(out, n)
		}
	}
	return out
}
