package tasks

import (
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// newArtifact adds an artifact to the task. Its id is made of what it is named
// after; the caller holds t.mu.
func (t *task) newArtifact(id, name string) *artifact {
	a := &artifact{id: t.names.take(id), name: name, text: t.newText()}
	t.artifacts = append(t.artifacts, a)
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
	t.names.free(a.id)
	a.text.Reset()
}
