package bridge_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/bridge"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
	"github.com/Molecule-AI/molecule-codex-runtime/server"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/overrides"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// A runner is a scripted one: tests take the jobs that it was given, and tell what
// becomes of them.
type runner struct {
	mu      sync.Mutex
	observe map[string]executor.Observer
	arrived chan job
	answers chan agent.Answer
}

type job struct {
	executor.Job
	observe executor.Observer
}

func (r *runner) Submit(j executor.Job, observe executor.Observer) (int, error) {
	r.mu.Lock()
	r.observe[j.ID] = observe
	r.mu.Unlock()
	r.arrived <- job{j, observe}
	return 0, nil
}

func (r *runner) Cancel(_ context.Context, id string) error {
	r.mu.Lock()
	observe := r.observe[id]
	r.mu.Unlock()
	observe(agent.Ended{Outcome: agent.Canceled})
	return nil
}

func (r *runner) Answer(_ string, a agent.Answer) error {
	r.answers <- a
	return nil
}

func (*runner) Refuses(executor.Job) error                          { return nil }
func (*runner) Steer(string, executor.Job, executor.Observer) error { return executor.ErrNotRunning }
func (*runner) Held() string                                        { return "" }

func (j job) start() job {
	j.observe(agent.Started{ThreadID: "thread", TurnID: "turn", Attempt: 1})
	return j
}

func (j job) end(text string) {
	j.observe(agent.Ended{Outcome: agent.Completed, Messages: []agent.Message{{ItemID: "reply", Text: text}}})
}

// A world is a runtime without codex, and a client of it.
type world struct {
	t      *testing.T
	runner *runner
	engine *tasks.Engine
	http   *httptest.Server
	client *bridge.Client

	mu     sync.Mutex
	meddle func(http.ResponseWriter, *http.Request, http.Handler) // with what the runtime answers; may be nil
}

func newWorld(t *testing.T, change ...func(*tasks.Config)) *world {
	t.Helper()
	journal, err := store.Open(t.Context(), store.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, runner: &runner{observe: map[string]executor.Observer{}, arrived: make(chan job, 64), answers: make(chan agent.Answer, 64)}}
	cfg := tasks.Config{
		Runner: w.runner, Journal: journal, Bounds: overrides.Bounds{WorkDir: t.TempDir(), Sandbox: "workspace-write", ApprovalPolicy: "on-request"},
	}
	for _, f := range change {
		f(&cfg)
	}
	if w.engine, err = tasks.New(cfg); err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Config{Handler: w.engine, Card: func(url string) *a2a.AgentCard { return adapter.Card(adapter.Identity{}, url) }, Token: "sesame"})
	if err != nil {
		t.Fatal(err)
	}
	w.http = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		meddle := w.meddle
		w.mu.Unlock()
		if meddle == nil {
			s.Handler().ServeHTTP(rw, r)
			return
		}
		meddle(rw, r, s.Handler())
	}))
	transport := &http.Transport{}
	w.client = bridge.New(bridge.Config{URL: w.http.URL, Token: "sesame", HTTP: &http.Client{Transport: transport}, CodexHome: t.TempDir()})
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		w.http.CloseClientConnections()
		w.http.Close()
		ended, cancel := context.WithCancel(context.Background())
		cancel() // what a test leaves running is not waited for
		_ = w.engine.Close(ended)
		_ = journal.Close()
	})
	return w
}

func (w *world) interfere(f func(http.ResponseWriter, *http.Request, http.Handler)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.meddle = f
}

// next returns the next job.
func (w *world) next() job {
	w.t.Helper()
	select {
	case j := <-w.runner.arrived:
		return j
	case <-time.After(time.Minute):
		w.t.Fatal("no job was submitted")
		return job{}
	}
}

// An object is an answer as a program reads it.
type object = map[string]any

// do performs an action and returns its answer as JSON has it.
func (w *world) do(a bridge.Args) object {
	w.t.Helper()
	answer, err := w.client.Do(w.t.Context(), a)
	if err != nil {
		w.t.Fatalf("%s: %v", a.Action, err)
	}
	return w.asObject(answer)
}

func (w *world) asObject(answer any) object {
	w.t.Helper()
	raw, err := json.Marshal(answer)
	if err != nil {
		w.t.Fatal(err)
	}
	var out object
	if err := json.Unmarshal(raw, &out); err != nil {
		w.t.Fatal(err)
	}
	return out
}

func (w *world) refused(a bridge.Args) string {
	w.t.Helper()
	answer, err := w.client.Do(w.t.Context(), a)
	if err == nil {
		w.t.Fatalf("%s: %+v, want an error", a.Action, answer)
	}
	return err.Error()
}

// start starts a task whose turn has begun.
func (w *world) start(prompt string) (string, job) {
	w.t.Helper()
	task, _ := w.do(bridge.Args{Action: "start", Prompt: prompt})["task"].(object)
	id, _ := task["task_id"].(string)
	return id, w.next().start()
}

func (w *world) status(id string) object {
	w.t.Helper()
	task, _ := w.do(bridge.Args{Action: "status", TaskID: id})["task"].(object)
	return task
}
