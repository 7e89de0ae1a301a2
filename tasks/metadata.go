package tasks

import (
	"maps"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/origin"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/refusal"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/sizes"
)

// mostMetadata is how many bytes a message may have beside what its parts say: its metadata
// and those of its request and its parts, the names, types and URLs of files, extensions,
// and the tasks that it refers to. It is kept with the message, and is not for the model.
const mostMetadata = 64 << 10

// trim takes out of a message what is for others and can be long. The metadata of its
// request are not kept in any case.
func (e *Engine) trim(in *incoming, req *a2a.SendMessageRequest) {
	in.extra = req.Metadata
	if e.cfg.Workspace == nil {
		return
	}
	if _, ok := in.message.Metadata[origin.HistoryKey]; ok {
		m := *in.message
		m.Metadata = maps.Clone(m.Metadata)
		m.Metadata[origin.HistoryKey] = []any{}
		in.message = &m
	}
	if _, ok := in.extra[origin.HistoryKey]; ok {
		in.extra = maps.Clone(in.extra)
		delete(in.extra, origin.HistoryKey)
	}
}

// checkMetadata refuses a message with more beside its parts than is kept.
func (in *incoming) checkMetadata() error {
	n := metadataSize(in.message, in.extra)
	in.extra = nil // what was not refused is not needed any more
	if n <= mostMetadata {
		return nil
	}
	return refusal.New(a2a.ErrInvalidParams, "the message has %d bytes of metadata, and at most %d are taken, those of its parts, names and URLs of files, "+
		"extensions and referenceTaskIds included; send what codex is to read as a part, or in a file", n, mostMetadata)
}

// metadataSize is what a message and its request take on the wire beside ids and what
// the parts say.
func metadataSize(m *a2a.Message, extra map[string]any) int {
	n := sizes.Wire(0)
	n.Object(extra)
	n.Object(m.Metadata)
	n.Texts(m.Extensions...)
	for _, id := range m.ReferenceTasks {
		n.Texts(string(id))
	}
	for _, p := range m.Parts {
		n.Texts(p.Filename, p.MediaType, string(p.URL()))
		n.Object(p.Metadata)
	}
	return int(n)
}
