package tasks

import (
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/attach"
)

// unbegun lets go of the files of a message that has ended before codex was given it.
func (r *run) unbegun(change *store.Change) {
	parts := r.message.Parts
	if r.task.engine.cfg.Files == nil || r.attempt > 0 || len(change.Cut) > 0 || !slices.ContainsFunc(parts, attach.IsFile) {
		return
	}
	change.Unbegun = []string{r.jobID}
	said := r.report
	r.report = func() {
		said()
		r.task.engine.cfg.Files.Drop(attach.UrisOf(parts))
	}
}
