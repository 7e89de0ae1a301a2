package tasks

import (
	"cmp"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/feed"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
)

// newArtifact adds an artifact to the task. Its id is made of what it is named after.
func (t *state) newArtifact(id, name string) *artifact {
	a := &artifact{id: t.names.take(id), name: name, text: t.newText(), shownAs: &feed.Artifact{}}
	t.artifacts = append(t.artifacts, a)
	t.reordered = true
	return a
}

// indexOf returns where the artifact of an id stands, or -1: mostly it is the last.
func (t *state) indexOf(id a2a.ArtifactID) int {
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
func (t *state) remove(i int) {
	a := t.artifacts[i]
	t.artifacts = slices.Delete(t.artifacts, i, i+1)
	t.reordered = true
	t.touch()
	t.names.free(a.id)
	a.text.Reset()
}

// takeBack takes an artifact out of the task again, and says so. That is no last chunk of anything: it
// may come behind that of the answer.
func (t *state) takeBack(a *artifact) {
	if i := slices.Index(t.artifacts, a); i >= 0 {
		t.remove(i)
	}
	gone := &a2a.TaskArtifactUpdateEvent{
		TaskID: t.id, ContextID: t.contextID, Artifact: a.chunk("", nil), Metadata: map[string]any{keys.Void: true},
	}
	if a.closed && len(t.pushes) > 0 {
		t.notify(gone, false)
	}
	t.publish(gone)
}

// replyLast puts the artifact with the reply behind the others: there are readers that take the last one
// for the answer.
func (t *state) replyLast() {
	id, _ := t.meta[keys.Reply].(string)
	i := t.indexOf(a2a.ArtifactID(id))
	if i >= 0 && i < len(t.artifacts)-1 {
		reply := t.artifacts[i]
		t.artifacts = append(slices.Delete(t.artifacts, i, i+1), reply)
		t.reordered = true
		t.touch()
	}
}

// push publishes what of the text may be shown, and with last all of it.
func (t *state) push(a *artifact, last bool) {
	if last {
		t.pushTo(a, a.text.Len(), true)
		return
	}
	if upTo := a.ready(); upTo > a.sent {
		t.pushTo(a, upTo, false)
	}
}

// pushTo publishes the text from where it is published up to another place.
func (t *state) pushTo(a *artifact, upTo int, last bool) {
	if a.before != nil { // the first chunk replaces what was there
		t.artifacts[slices.Index(t.artifacts, a.before)] = a
		t.reordered = true
		a.before.text.Reset()
		a.before = nil
	}
	event := &a2a.TaskArtifactUpdateEvent{
		TaskID: t.id, ContextID: t.contextID,
		Append: a.shown, LastChunk: last,
		Artifact: a.chunk(strings.Clone(a.text.String()[a.sent:upTo]), a.parts[a.put:]), // a slow reader of a chunk must not keep the text
	}
	said := !a.shown || upTo > a.sent || len(a.parts) > a.put
	a.sent, a.put, a.shown, a.closed = upTo, len(a.parts), true, last
	if last {
		t.notifyArtifact(a.snapshot())
	}
	if said { // what was cut off has been shown to its end
		t.says()
		t.publishOf(a, event)
	}
}

// produce makes an artifact of a file or of data.
func (r *run) produce(p agent.Produced) {
	var part *a2a.Part
	switch {
	case p.URL != "":
		part = a2a.NewFileURLPart(a2a.URL(p.URL), p.MediaType)
	case p.Data != nil:
		part = a2a.NewDataPart(p.Data)
	default:
		part = a2a.NewRawPart(append([]byte{}, p.Bytes...)) // nil could not be read again
	}
	if p.Data == nil {
		part.Filename = p.Name
	}
	part.MediaType = p.MediaType
	a := r.task.newArtifact(cmp.Or(p.ID, "file"), p.Name)
	a.parts = a2a.ContentParts{part}
	r.task.push(a, true)
}
