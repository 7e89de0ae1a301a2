package server

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// An instant runner answers every job before Submit returns, with what it is told to
// say, but for those that are told to wait: they wait to be canceled.
type instant struct {
	mu      sync.Mutex // guards waiting
	waiting map[string]executor.Observer
}

func (r *instant) Submit(job executor.Job, observe executor.Observer) (int, error) {
	observe(agent.Started{ThreadID: "thread", TurnID: "turn"})
	text := "done"
	if len(job.Input) > 0 {
		if said, ok := strings.CutPrefix(job.Input[0].Text, "say "); ok {
			text = said
		}
	}
	if len(job.Input) > 0 && strings.HasPrefix(job.Input[0].Text, "wait") {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.waiting[job.ID] = observe
		return 0, nil
	}
	observe(agent.Ended{Outcome: agent.Completed, Messages: []agent.Message{{ItemID: "m", Text: text}}})
	return 0, nil
}

func (r *instant) Cancel(_ context.Context, id string) error {
	r.mu.Lock()
	observe := r.waiting[id]
	delete(r.waiting, id)
	r.mu.Unlock()
	if observe != nil {
		observe(agent.Ended{Outcome: agent.Canceled})
	}
	return nil
}

func (*instant) Refuses(executor.Job) error                          { return nil }
func (*instant) Steer(string, executor.Job, executor.Observer) error { return executor.ErrNotRunning }
func (*instant) Answer(string, agent.Answer) error                   { return executor.ErrNotAsked }
func (*instant) Held() string                                        { return "" }

// engine is the real thing behind the doors, for tests of what both refuse.
func engine(t testing.TB) *tasks.Engine {
	t.Helper()
	e, _ := engineOn(t)
	return e
}

// A shelf is a journal that counts the tasks that are read whole.
type shelf struct {
	*store.Store
	read atomic.Int32
}

func (s *shelf) Task(ctx context.Context, id string) (store.Task, error) {
	s.read.Add(1)
	return s.Store.Task(ctx, id)
}

func engineOn(t testing.TB) (*tasks.Engine, *shelf) {
	t.Helper()
	opened, err := store.Open(t.Context(), store.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	journal := &shelf{Store: opened}
	e, err := tasks.New(tasks.Config{Runner: &instant{waiting: map[string]executor.Observer{}}, Journal: journal})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // what a test leaves waiting is not waited for
		_ = e.Close(ctx)
		if err := journal.Close(); err != nil {
			t.Error(err)
		}
	})
	return e, journal
}
