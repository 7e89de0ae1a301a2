package tasks_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
)

func TestMain(m *testing.M) {
	crash()
	leaktest.Main(m)
}

// A runner is a scripted tasks.Runner: tests take the jobs that it was given and
// tell their observers what they like.
type runner struct {
	mu       sync.Mutex
	jobs     []*job
	canceled []string
	refuse   error
	onSubmit func(*job)       // called before Submit returns
	onCancel func(*job)       // instead of ending the job as canceled
	arrived  chan *job        // buffered
	book     executor.Journal // where attempts are noted; may be nil
	gate     chan struct{}    // if set, Submit sends on it when it is entered and receives before it goes on
}

type job struct {
	executor.Job
	observe executor.Observer
	ended   bool // guarded by runner.mu
	runner  *runner
}

func newRunner() *runner { return &runner{arrived: make(chan *job, 1024)} }

func (r *runner) Submit(j executor.Job, observe executor.Observer) (int, error) {
	if r.gate != nil {
		r.gate <- struct{}{}
		<-r.gate
	}
	r.mu.Lock()
	if r.refuse != nil {
		defer r.mu.Unlock()
		return 0, r.refuse
	}
	ahead := 0
	for _, other := range r.jobs {
		if other.Context == j.Context && !other.ended {
			ahead++
		}
	}
	taken := &job{Job: j, observe: observe, runner: r}
	r.jobs = append(r.jobs, taken)
	onSubmit := r.onSubmit
	r.mu.Unlock()
	if onSubmit != nil {
		onSubmit(taken)
	}
	r.arrived <- taken
	return ahead, nil
}

func (r *runner) Cancel(_ context.Context, id string) error {
	r.mu.Lock()
	r.canceled = append(r.canceled, id)
	var found *job
	if i := slices.IndexFunc(r.jobs, func(j *job) bool { return j.ID == id && !j.ended }); i >= 0 {
		found = r.jobs[i]
	}
	onCancel := r.onCancel
	r.mu.Unlock()
	switch {
	case found == nil:
	case onCancel != nil:
		onCancel(found)
	default:
		found.end(agent.Ended{Outcome: agent.Canceled})
	}
	return nil
}

// Its turns neither take messages nor ask, and nothing holds them.

func (r *runner) Refuses(executor.Job) error                          { return nil }
func (r *runner) Steer(string, executor.Job, executor.Observer) error { return executor.ErrNotRunning }
func (r *runner) Answer(string, agent.Answer) error                   { return executor.ErrNotAsked }
func (r *runner) Held() string                                        { return "" }

// noteIn says where attempts are noted.
func (r *runner) noteIn(j tasks.Journal) {
	if b, ok := j.(*brokenJournal); ok {
		j = b.Journal
	}
	r.book = tasks.Book(j.(tasks.Ledger))
}

func (r *runner) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.jobs)
}

// next returns the next job that is submitted.
func (r *runner) next(t testing.TB) *job {
	t.Helper()
	select {
	case j := <-r.arrived:
		return j
	case <-time.After(time.Minute):
		t.Fatal("no job was submitted")
		return nil
	}
}

func (j *job) start() *job { return j.attempt(1) }

// attempt begins the job, as the executor would.
func (j *job) attempt(n int) *job {
	if j.runner.book != nil {
		if err := j.runner.book.Begin(context.Background(), executor.Attempt{Job: j.ID, N: n, Conversation: j.Context, Thread: "thread"}); err != nil {
			panic(err)
		}
	}
	j.observe(agent.Started{ThreadID: "thread", TurnID: fmt.Sprintf("turn-%s.%d", j.ID, n), Attempt: n, Waited: time.Millisecond})
	return j
}

func (j *job) say(item, text string) { j.observe(agent.TextDelta{ItemID: item, Text: text}) }

func (j *job) whole(item, text, phase string) {
	j.observe(agent.ItemCompleted{Item: agent.Item{Kind: agent.KindMessage, ID: item, Text: text, Phase: phase}})
}

func (j *job) end(end agent.Ended) {
	j.runner.mu.Lock()
	j.ended = true
	j.runner.mu.Unlock()
	j.observe(end)
}

// answer ends the job with one message.
func (j *job) answer(text string) {
	j.end(agent.Ended{Outcome: agent.Completed, Messages: []agent.Message{{ItemID: "m-" + j.ID, Text: text}}})
}

// prompt is what the job gives to codex.
func (j *job) prompt() string {
	var texts []string
	for _, in := range j.Input {
		texts = append(texts, in.Text+in.URL)
	}
	return strings.Join(texts, "\n")
}

func newEngine(t testing.TB, r tasks.Runner, change ...func(*tasks.Config)) *tasks.Engine {
	t.Helper()
	cfg := tasks.Config{Runner: r}
	for _, f := range change {
		f(&cfg)
	}
	if cfg.Journal == nil {
		cfg.Journal = newJournal(t)
	}
	if r, ok := r.(interface{ noteIn(tasks.Journal) }); ok {
		r.noteIn(cfg.Journal)
	}
	e, err := tasks.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // what a test leaves running is not waited for
		_ = e.Close(ctx)
	})
	return e
}

func newJournal(t testing.TB) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func message(id, text string) *a2a.Message {
	return &a2a.Message{ID: id, Role: a2a.MessageRoleUser, Parts: a2a.ContentParts{a2a.NewTextPart(text)}}
}

func request(id, contextID, text string) *a2a.SendMessageRequest {
	m := message(id, text)
	m.ContextID = contextID
	return &a2a.SendMessageRequest{Message: m, Config: &a2a.SendMessageConfig{}}
}

// begin sends a message without waiting for its answer.
func begin(t testing.TB, e *tasks.Engine, req *a2a.SendMessageRequest) *a2a.Task {
	t.Helper()
	req.Config.ReturnImmediately = true
	task, err := e.SendMessage(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return task.(*a2a.Task)
}

func get(t testing.TB, e *tasks.Engine, id a2a.TaskID) *a2a.Task {
	t.Helper()
	task, err := e.GetTask(t.Context(), &a2a.GetTaskRequest{ID: id})
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// A listener collects a stream.
type listener struct {
	mu     sync.Mutex
	events []a2a.Event
	err    error
	ended  chan struct{}
}

// listen reads a stream in a goroutine of its own until it ends.
func listen(stream func(func(a2a.Event, error) bool)) *listener {
	l := &listener{ended: make(chan struct{})}
	go func() {
		defer close(l.ended)
		for event, err := range stream {
			l.mu.Lock()
			if err != nil {
				l.err = err
			} else {
				l.events = append(l.events, event)
			}
			l.mu.Unlock()
		}
	}()
	return l
}

// follow subscribes to a task, and returns when the subscription is there.
func follow(t testing.TB, e *tasks.Engine, id a2a.TaskID) *listener {
	t.Helper()
	l := listen(e.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: id}))
	for len(l.seen()) == 0 {
		select {
		case <-l.ended:
			if len(l.seen()) == 0 {
				t.Fatalf("nobody can subscribe: %v", l.err)
			}
		case <-time.After(time.Millisecond):
		}
	}
	return l
}

func (l *listener) wait(t testing.TB) []a2a.Event {
	t.Helper()
	select {
	case <-l.ended:
	case <-time.After(time.Minute):
		t.Fatal("the stream has not ended")
	}
	return l.seen()
}

func (l *listener) seen() []a2a.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events)
}

// show renders an event in a line.
func show(event a2a.Event) string {
	switch event := event.(type) {
	case *a2a.Task:
		return fmt.Sprintf("task %s %s", short(event.Status.State), strings.Join(texts(event), " "))
	case *a2a.TaskStatusUpdateEvent:
		if m := event.Status.Message; m != nil && m.Parts[0].Data() != nil {
			return "progress " + m.Parts[0].Data().(map[string]any)["type"].(string)
		}
		return "status " + short(event.Status.State)
	case *a2a.TaskArtifactUpdateEvent:
		line := "new "
		if event.Append {
			line = "add "
		}
		line += fmt.Sprintf("%s %q", event.Artifact.ID, event.Artifact.Parts[0].Text())
		if event.LastChunk {
			line += " last"
		}
		if event.Metadata[keys.Void] == true {
			line += " void"
		}
		return line
	}
	return fmt.Sprintf("%T", event)
}

func showAll(events []a2a.Event) string {
	lines := make([]string, 0, len(events))
	for _, e := range events {
		lines = append(lines, strings.TrimSpace(show(e)))
	}
	return strings.Join(lines, "\n")
}

func short(s a2a.TaskState) string {
	return strings.ToLower(strings.TrimPrefix(string(s), "TASK_STATE_"))
}

// texts renders the artifacts of a task.
func texts(task *a2a.Task) []string {
	var out []string
	for _, a := range task.Artifacts {
		if len(a.Parts) != 1 {
			return []string{fmt.Sprintf("artifact %s has %d parts", a.ID, len(a.Parts))}
		}
		out = append(out, fmt.Sprintf("%s=%q", a.ID, a.Parts[0].Text()))
	}
	return out
}

// wantError checks an error's sentinel and its words.
func wantError(t testing.TB, err, sentinel error, words string) {
	t.Helper()
	var written *a2a.Error
	if !errors.Is(err, sentinel) || !errors.As(err, &written) || !strings.Contains(err.Error(), words) {
		t.Errorf("error = %v, want one of %q that says %q", err, sentinel, words)
	}
}

// refused returns the error that a stream consists of.
func refused(t testing.TB, stream func(func(a2a.Event, error) bool)) error {
	t.Helper()
	for event, err := range stream {
		if err != nil {
			return err
		}
		t.Errorf("the stream has %s in it", show(event))
	}
	return nil
}
