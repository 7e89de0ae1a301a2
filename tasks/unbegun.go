package tasks

import (
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// unbegun lets go of the files of a message that has ended before codex was given it.
func (r *run) unbegun(change *store.Change) {
	parts := r.message.Parts
	if r.task.engine.cfg.Files == nil || r.attempt > 0 || len(change.Cut) > 0 || !slices.ContainsFunc(parts, isFile) {
		return
	}
	change.Unbegun = []string{r.jobID}
	said := r.report
	r.report = func() {
		said()
		r.task.engine.cfg.Files.Drop(urisOf(parts))
	}
}

// urisOf are the URIs that parts of a message have.
func urisOf(parts []*a2a.Part) []string {
	var uris []string
	for _, p := range parts {
		if uri := p.URL(); uri != "" {
			uris = append(uris, string(uri))
		}
	}
	return uris
}
