package tasks

import (
	"cmp"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

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
