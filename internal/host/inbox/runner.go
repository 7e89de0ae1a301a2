package inbox

import (
	"sync"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/activity"
	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/host"
)

// A runner is the executor, as the tasks of several workspaces see it: the platform
// of each hears of what is done for it.
type runner struct {
	*executor.Executor
	all     spaces
	told    []activity.Turner // by workspace
	running *running
}

func newRunner(t *host.Turns, all spaces, joined members, running *running) runner {
	told := make([]activity.Turner, 0, len(joined))
	for _, m := range joined {
		recorded := activity.Recorded(t.Executor, m.recorder.Record, t.Redact.String)
		told = append(told, activity.Counted(recorded, m.presence, t.Checks.Doubt))
	}
	return runner{t.Executor, all, told, running}
}

func (r runner) in(j executor.Job) activity.Turner {
	if at := r.all.of(j.Context); at >= 0 {
		return r.told[at]
	}
	return r.Executor
}

// Submit implements [tasks.Runner].
func (r runner) Submit(j executor.Job, observe executor.Observer) (int, error) {
	return r.in(j).Submit(j, r.running.watch(j.ID, observe))
}

// Steer implements [tasks.Steerer].
func (r runner) Steer(into string, j executor.Job, observe executor.Observer) error {
	return r.in(j).Steer(into, j, observe)
}

// running are the turns that run.
type running struct {
	mu    sync.Mutex
	jobs  map[string]bool // by job
	ended int
}

func newRunning() *running { return &running{jobs: map[string]bool{}} }

// watch notes when the turn of a job begins and when the job has ended.
func (t *running) watch(id string, observe executor.Observer) executor.Observer {
	return func(e agent.Event) {
		observe(e)
		t.mu.Lock()
		defer t.mu.Unlock()
		switch e.(type) {
		case agent.Started:
			t.jobs[id] = true
		case agent.Ended:
			if t.jobs[id] {
				delete(t.jobs, id)
				t.ended++
			}
		}
	}
}

// idleAgain returns what reports whether no turn runs, and some have ended since it was
// asked last: a channel is mostly idle, for days.
func (t *running) idleAgain() func() bool {
	seen := -1
	return func() bool {
		t.mu.Lock()
		defer t.mu.Unlock()
		if len(t.jobs) > 0 || t.ended == seen {
			return false
		}
		seen = t.ended
		return true
	}
}
