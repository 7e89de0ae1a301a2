package tasks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// mostMetadata is what docs/messages.md says.
const mostMetadata = 64 << 10

// TestMetadataIsBounded wherever a message has something beside what its parts say.
func TestMetadataIsBounded(t *testing.T) {
	st := newJournal(t)
	e := newEngine(t, newRunner(), func(c *tasks.Config) { c.Journal = st })
	fill := func(n int) map[string]any { return map[string]any{"x": strings.Repeat("x", n)} }
	ids := func(n int) (out []a2a.TaskID) {
		for i := range n / 24 {
			out = append(out, a2a.TaskID(fmt.Sprintf("%020d", i)))
		}
		return out
	}
	for name, put := range map[string]func(*a2a.SendMessageRequest, int){
		"the message's": func(r *a2a.SendMessageRequest, n int) { r.Message.Metadata = fill(n) },
		"the request's": func(r *a2a.SendMessageRequest, n int) { r.Metadata = fill(n) },
		"a part's":      func(r *a2a.SendMessageRequest, n int) { r.Message.Parts[0].Metadata = fill(n) },
		"a part's name": func(r *a2a.SendMessageRequest, n int) { r.Message.Parts[0].Filename = strings.Repeat("x", n) },
		"a part's type": func(r *a2a.SendMessageRequest, n int) { r.Message.Parts[0].MediaType = strings.Repeat("x", n) },
		"an extension":  func(r *a2a.SendMessageRequest, n int) { r.Message.Extensions = []string{strings.Repeat("x", n)} },
		"other tasks":   func(r *a2a.SendMessageRequest, n int) { r.Message.ReferenceTasks = ids(n) },
		"history":       func(r *a2a.SendMessageRequest, n int) { r.Message.Metadata = map[string]any{"history": fill(n)} },
		"the URL": func(r *a2a.SendMessageRequest, n int) {
			r.Message.Parts = append(r.Message.Parts, a2a.NewFileURLPart(a2a.URL("data:,"+strings.Repeat("x", n)), ""))
		},
		"a bit of each": func(r *a2a.SendMessageRequest, n int) {
			r.Message.Metadata, r.Metadata, r.Message.Parts[0].Metadata = fill(n/3), fill(n/3), fill(n/3)
		},
		"many of nothing": func(r *a2a.SendMessageRequest, n int) {
			r.Message.Metadata = map[string]any{"x": make([]any, n/6)}
		},
	} {
		most := request(name+" most", "c "+name, "hi")
		put(most, mostMetadata-256)
		if _, err := e.SendMessage(t.Context(), returning(most)); err != nil {
			t.Errorf("%s, below the bound: %v", name, err)
		}
		more := request(name+" more", "d "+name, "hi")
		put(more, mostMetadata+256)
		_, err := e.SendMessage(t.Context(), returning(more))
		if !errors.Is(err, a2a.ErrInvalidParams) || !strings.Contains(err.Error(), "at most 65536 are taken") {
			t.Errorf("%s, beyond the bound: %v", name, err)
		}
		page, err := st.Tasks(t.Context(), store.Query{Context: "d " + name, Limit: 1})
		if err != nil || page.Total != 0 {
			t.Errorf("%s: %d tasks of it, %v", name, page.Total, err)
		}
	}
}

func returning(req *a2a.SendMessageRequest) *a2a.SendMessageRequest {
	req.Config.ReturnImmediately = true
	return req
}

// longHistory is what the canvas sends along: what was said before.
func longHistory() []any {
	var all []any
	for i := range 20 {
		all = append(all, map[string]any{"role": "user", "parts": []any{map[string]any{"kind": "text", "text": fmt.Sprint(i) + strings.Repeat("so it was said ", 4000)}}})
	}
	return all
}

// TestHistoryOfTheCanvas is not kept, and not counted, wherever it stands: the thread has it. That
// it is there goes on saying who sends the message.
func TestHistoryOfTheCanvas(t *testing.T) {
	st := newJournal(t)
	e := newEngine(t, newRunner(), func(c *tasks.Config) { c.Journal, c.Workspace = st, &tasks.Workspace{} })
	req := request("m1", "c", "hi")
	req.Message.Metadata = map[string]any{"history": longHistory(), "delegation": "kept"}
	req.Metadata = map[string]any{"history": longHistory()}
	id := begin(t, e, req).ID
	if len(req.Message.Metadata["history"].([]any)) != 20 {
		t.Error("the caller's own message was changed")
	}
	row, err := st.Task(t.Context(), string(id))
	if err != nil {
		t.Fatal(err)
	}
	if body := string(row.History[0]); len(body) > 512 || !strings.Contains(body, `"history":[]`) || !strings.Contains(body, "kept") {
		t.Errorf("kept are %d bytes: %.512s", len(body), body)
	}
	if all, err := e.Newest(t.Context(), 1); err != nil || all[0].Caller != "user" {
		t.Errorf("the sender is %q, %v", all[0].Caller, err)
	}
}

// TestKnownMessageIsNotMeasured: callers rewrite the metadata of what they send again.
func TestKnownMessageIsNotMeasured(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	id := begin(t, e, request("m1", "c", "hi")).ID
	again := request("m1", "c", "hi")
	again.Message.Metadata = map[string]any{"x": strings.Repeat("x", 1<<20)}
	if got := begin(t, e, again).ID; got != id || r.count() != 1 {
		t.Errorf("task %s of %d jobs, want %s", got, r.count(), id)
	}
}

// A full runner takes nothing but what it has taken.
type full struct {
	*runner
	is bool
}

func (f *full) Refuses(executor.Job) error {
	if f.is {
		return fmt.Errorf("%w: no room", executor.ErrQueueFull)
	}
	return nil
}

// counting counts what is accepted in a journal.
type counting struct {
	*store.Store
	accepted int
}

func (c *counting) Accept(ctx context.Context, m store.Message, head store.Head) error {
	c.accepted++
	return c.Store.Accept(ctx, m, head)
}

// TestRefusedLeavesNothingInTheJournal, and a message that is known is answered.
func TestRefusedLeavesNothingInTheJournal(t *testing.T) {
	r, journal := &full{runner: newRunner()}, &counting{Store: newJournal(t)}
	e := newEngine(t, r.runner, func(c *tasks.Config) { c.Journal, c.Runner = journal, r })
	id := begin(t, e, request("m1", "c", "hi")).ID
	r.is = true
	for i := range 5 {
		_, err := e.SendMessage(t.Context(), returning(request(fmt.Sprint("more ", i), "c", strings.Repeat("x", 1<<20))))
		if !errors.Is(err, a2a.ErrServerError) || !strings.Contains(err.Error(), "no room; send this one again later") {
			t.Errorf("message %d: %v", i, err)
		}
	}
	if journal.accepted != 1 {
		t.Errorf("%d messages were written into the journal", journal.accepted)
	}
	if got := begin(t, e, request("m1", "c", "hi")).ID; got != id {
		t.Errorf("a message that is known has the task %s, want %s", got, id)
	}
	if task := begin(t, e, request("s1", "c", "/status")); task.ID == "" { // a command waits for nothing
		t.Error("no task")
	}
}

// TestAnswersAreBounded: wrong answers without end do not fill the memory, and there is room for
// a right one.
func TestAnswersAreBounded(t *testing.T) {
	r := &asker{runner: newRunner(), late: &agent.NotUnderstoodError{Why: "What?"}}
	e := newEngine(t, r)
	task := begin(t, e, request("m1", "c", "hi"))
	r.next(t).start().ask("q1", "May I?")
	taken := 0
	for i := range 8 {
		req := to(task, fmt.Sprint("wrong ", i), strings.Repeat("x", 1<<20))
		if i%2 == 1 { // an answer, too
			req.Message.TaskID, req.Message.ContextID = "", "c"
		}
		_, err := e.SendMessage(t.Context(), returning(req))
		if err == nil {
			taken++
		} else if !errors.Is(err, a2a.ErrInvalidParams) || !strings.Contains(err.Error(), "in a few words") {
			t.Errorf("answer %d: %v", i, err)
		}
	}
	if taken != 3 || r.count() != 1 {
		t.Errorf("%d answers of a MiB were taken, and %d turns made", taken, r.count())
	}
	again := to(task, "wrong 0", strings.Repeat("x", 1<<20))
	if now := begin(t, e, again); now.ID != task.ID {
		t.Errorf("one that is known: %s", now.ID)
	}
	r.mu.Lock()
	r.late = nil
	r.mu.Unlock()
	begin(t, e, to(task, "right", "yes"))
	if got := r.answered(); got != "q1:yes" {
		t.Errorf("codex was answered %q", got)
	}
}

// TestBoundsOfReposedQuestions: a long question is posed again for each short answer that is
// none, and all of it stays.
func TestBoundsOfReposedQuestions(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	r := &asker{runner: newRunner(), late: &agent.NotUnderstoodError{Why: "What?"}}
	e := newEngine(t, r)
	task := begin(t, e, request("m1", "c", "hi"))
	r.next(t).start().ask("q1", strings.Repeat("x", 1<<20))
	taken := 0
	for i := range 20 {
		_, err := e.SendMessage(t.Context(), returning(to(task, fmt.Sprint("wrong ", i), "hm")))
		if err == nil {
			taken++
		} else if !errors.Is(err, a2a.ErrInvalidParams) || !strings.Contains(err.Error(), "too often") {
			t.Errorf("answer %d: %v", i, err)
		}
	}
	if taken != 16 {
		t.Errorf("%d wrong answers were taken", taken)
	}
	if _, err := e.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: task.ID}); err != nil {
		t.Errorf("cancel: %v", err)
	}
}

// living is what is in memory.
func living() int {
	var m runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestBoundsOfWeight holds what a message is said to take to what it takes, also in the process
// after this one.
func TestBoundsOfWeight(t *testing.T) {
	longtest.Mark(t)
	const count = 8
	value := func(text string) *a2a.Part {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		return a2a.NewDataPart(v)
	}
	list := func(n int, of string) string { return "[" + of + strings.Repeat(","+of, n-1) + "]" }
	for name, part := range map[string]func() *a2a.Part{
		"text":    func() *a2a.Part { return a2a.NewTextPart(strings.Repeat("x", 1<<18)) },
		"numbers": func() *a2a.Part { return value(list(30_000, "1.5")) },
		"lists":   func() *a2a.Part { return value(list(20_000, "[1]")) },
		"objects": func() *a2a.Part { return value(list(7_000, `{"a":{}}`)) },
		"members": func() *a2a.Part {
			var b strings.Builder
			for i := range 7_000 {
				fmt.Fprintf(&b, `,"key %d":"value"`, i)
			}
			return value("{" + b.String()[1:] + "}")
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			before, said := living(), 0
			for i := range count {
				req := request(fmt.Sprint("m", i), "c", "hi")
				req.Message.Parts = a2a.ContentParts{part()}
				begin(t, m.e, req)
				said += m.r.next(t).Size
			}
			near(t, "here", said, living()-before)
			m.kill()
			m.e, m.r, m.st = nil, nil, nil
			before = living()
			m.start()
			again := 0
			for range count {
				again += m.r.next(t).Size
			}
			if again != said {
				t.Errorf("%d bytes were counted, and %d after the restart", said, again)
			}
			near(t, "after the restart", again, living()-before)
		})
	}
}

func near(t *testing.T, when string, said, are int) {
	t.Helper()
	t.Logf("%s: %d bytes are counted, and %d are taken", when, said, are)
	if are > said*3/2+1<<20 || are < said/3-1<<20 {
		t.Errorf("%s: %d bytes are counted, and %d are taken", when, said, are)
	}
}
