package tasks

import (
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/feed"
)

// newArtifact adds an artifact to the task. Its id is made of what it is named
// after; the caller holds t.mu.
func (t *task) newArtifact(id, name string) *artifact {
	a := &artifact{id: t.names.take(id), name: name, text: t.newText(), shownAs: &feed.Artifact{}}
	t.artifacts = append(t.artifacts, a)
	t.reordered = true
	return a
}

// indexOf returns where the artifact of an id stands, or -1: mostly it is the last.
func (t *task) indexOf(id a2a.ArtifactID) int {
	if !t.names.has(id) {
		return -1
	}
	for i, a := range slices.Backward(t.artifacts) {
		if a.id == id {
			return i
		}
	}
	return -1
}

// remove takes an artifact out of the task.
func (t *task) remove(i int) {
	a := t.artifacts[i]
	t.artifacts = slices.Delete(t.artifacts, i, i+1)
	t.reordered = true
	t.touch()
	t.names.free(a.id)
	a.text.Reset()
}
