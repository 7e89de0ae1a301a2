package inbox

import (
	"sync"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/activity"
	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/host"
)

// watchers hear of the jobs of all workspaces, in their order. The record of the wire is first, so that nothing that
// follows from an event stands in it before that. Then the platforms hear: of a tool before anything else follows from
// its end, and that a job is not active any more when all that come behind are done with it. The trace stands next to the
// task, so that its answer is what the task takes for the end, and nothing else.
func watchers(t *host.Turns, all spaces, joined members, running *running) executor.Watchers {
	return executor.Watchers{t.Wire, told(t, all, joined), running, t.Traces}
}

// platforms are those of the workspaces: each hears of what is done for it.
type platforms struct {
	all  spaces
	each []executor.Watchers // by workspace
}

func told(t *host.Turns, all spaces, joined members) platforms {
	p := platforms{all: all, each: make([]executor.Watchers, 0, len(joined))}
	for _, m := range joined {
		p.each = append(p.each, executor.Watchers{
			activity.Rows{Record: m.recorder.Record, Redact: t.Redact.String},
			activity.Counted{Presence: m.presence, Worked: t.Checks.Doubt},
		})
	}
	return p
}

// Watch implements [executor.Watcher].
func (p platforms) Watch(j executor.Job, into string, next executor.Observer) (observe executor.Observer, refused func(error)) {
	at := p.all.of(j.Context)
	if at < 0 {
		return next, nil
	}
	return p.each[at].Watch(j, into, next)
}

// running are the turns that run.
type running struct {
	mu    sync.Mutex
	jobs  map[string]bool // by job
	ended int
}

func newRunning() *running { return &running{jobs: map[string]bool{}} }

// Watch implements [executor.Watcher]: it notes when the turn of a job begins and when the job has ended. One that is
// handed to the turn of another is not counted beside that.
func (t *running) Watch(j executor.Job, into string, next executor.Observer) (observe executor.Observer, refused func(error)) {
	if into != "" {
		return next, nil
	}
	return func(e agent.Event) {
		next(e)
		t.mu.Lock()
		defer t.mu.Unlock()
		switch e.(type) {
		case agent.Started:
			t.jobs[j.ID] = true
		case agent.Ended:
			if t.jobs[j.ID] {
				delete(t.jobs, j.ID)
				t.ended++
			}
		}
	}, nil
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
