package main

import (
	"sync"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// A spaceRunner is the executor, as the tasks of several workspaces see it: the platform
// of each hears of what is done for it.
type spaceRunner struct {
	*executor.Executor
	box *inbox
}

func (r spaceRunner) in(j executor.Job) turner {
	m := r.box.of(j.Context)
	if m == nil {
		return r.Executor
	}
	return counted{recorded{r.Executor, m.recorder.Record, r.box.redact.String}, m.presence, func() { r.box.checks.Doubt() }}
}

// Submit implements [tasks.Runner].
func (r spaceRunner) Submit(j executor.Job, observe executor.Observer) (int, error) {
	return r.in(j).Submit(j, r.box.turns.watch(j.ID, observe))
}

// Steer implements [tasks.Steerer].
func (r spaceRunner) Steer(into string, j executor.Job, observe executor.Observer) error {
	return r.in(j).Steer(into, j, observe)
}

// turns are those that run.
type turns struct {
	mu      sync.Mutex
	running map[string]bool // by job
	ended   int
}

func newTurns() *turns { return &turns{running: map[string]bool{}} }

// watch notes when the turn of a job begins and when the job has ended.
func (t *turns) watch(id string, observe executor.Observer) executor.Observer {
	return func(e agent.Event) {
		observe(e)
		t.mu.Lock()
		defer t.mu.Unlock()
		switch e.(type) {
		case agent.Started:
			t.running[id] = true
		case agent.Ended:
			if t.running[id] {
				delete(t.running, id)
				t.ended++
			}
		}
	}
}

// idleAgain returns what reports whether no turn runs, and some have ended since it was
// asked last: a channel is mostly idle, for days.
func (t *turns) idleAgain() func() bool {
	seen := -1
	return func() bool {
		t.mu.Lock()
		defer t.mu.Unlock()
		if len(t.running) > 0 || t.ended == seen {
			return false
		}
		seen = t.ended
		return true
	}
}
