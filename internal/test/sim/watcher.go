package sim

import (
	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// A watcher notes which turns were told as completed, and which messages they are said to have had beside their own.
// It implements [executor.Watcher].
type watcher struct {
	r *run
	l *life
}

// Watch implements [executor.Watcher].
func (w watcher) Watch(job executor.Job, _ string, next executor.Observer) (executor.Observer, func(error)) {
	return func(event agent.Event) {
		next(event)
		if end, ok := event.(agent.Ended); ok && end.Outcome == agent.Completed && !w.l.journal.dead.Load() {
			w.r.books.takes(job.ID, end.Taken)
		}
	}, nil
}
