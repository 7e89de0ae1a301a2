package sim

import (
	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// A watcher notes which messages a turn is said to have had beside its own. It implements [executor.Watcher].
type watcher struct {
	r *run
	l *life
}

// Watch implements [executor.Watcher].
func (w watcher) Watch(job executor.Job, _ string, next executor.Observer) (executor.Observer, func(error)) {
	return func(event agent.Event) {
		if end, ok := event.(agent.Ended); ok && end.Outcome == agent.Completed && !w.l.journal.dead.Load() {
			w.r.books.takes(job.ID, end.Taken)
		}
		next(event)
	}, nil
}
