package tasks

import (
	"maps"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// mostMetadata is how many bytes a message may have beside what its parts say: its metadata
// and those of its request and its parts, the names, types and URLs of files, extensions,
// and the tasks that it refers to. It is kept with the message, and is not for the model.
const mostMetadata = 64 << 10

// historyKey is where the canvas of a workspace puts what was said before. The thread has
// that; that it is there says who sends the message.
const historyKey = "history"

// trim takes out of a message what is for others and can be long. The metadata of its
// request are not kept in any case.
func (e *Engine) trim(in *incoming, req *a2a.SendMessageRequest) {
	in.extra = req.Metadata
	if e.cfg.Workspace == nil {
		return
	}
	if _, ok := in.message.Metadata[historyKey]; ok {
		m := *in.message
		m.Metadata = maps.Clone(m.Metadata)
		m.Metadata[historyKey] = []any{}
		in.message = &m
	}
	if _, ok := in.extra[historyKey]; ok {
		in.extra = maps.Clone(in.extra)
		delete(in.extra, historyKey)
	}
}

// checkMetadata refuses a message with more beside its parts than is kept.
func (in *incoming) checkMetadata() error {
	n := metadataSize(in.message, in.extra)
	in.extra = nil // what was not refused is not needed any more
	if n <= mostMetadata {
		return nil
	}
	return refuse(a2a.ErrInvalidParams, "the message has %d bytes of metadata, and at most %d are taken, those of its parts, names and URLs of files, "+
		"extensions and referenceTaskIds included; send what codex is to read as a part, or in a file", n, mostMetadata)
}

// metadataSize is what a message and its request take on the wire beside ids and what
// the parts say.
func metadataSize(m *a2a.Message, extra map[string]any) int {
	n := wireCount(0)
	n.object(extra)
	n.object(m.Metadata)
	n.texts(m.Extensions...)
	for _, id := range m.ReferenceTasks {
		n.texts(string(id))
	}
	for _, p := range m.Parts {
		n.texts(p.Filename, p.MediaType, string(p.URL()))
		n.object(p.Metadata)
	}
	return int(n)
}
