// Package sizes estimates what tasks and messages take, on the wire and in memory, without
// making it.
package sizes

import (
	"strconv"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/codec"
)

// A Wire adds up about what things take on the wire, without making it.
type Wire int

// OfTask is about what a task takes on the wire.
func OfTask(task *a2a.Task) int {
	n := Wire(128)
	n.Texts(string(task.ID), task.ContextID, string(task.Status.State))
	n.Object(task.Metadata)
	n.Message(task.Status.Message)
	for _, a := range task.Artifacts {
		n.artifact(a)
	}
	for _, m := range task.History {
		n.Message(m)
	}
	return int(n)
}

func (n *Wire) artifact(a *a2a.Artifact) {
	if a == nil {
		return
	}
	*n += 64
	n.Texts(string(a.ID), a.Name, a.Description)
	n.Texts(a.Extensions...)
	n.Object(a.Metadata)
	n.parts(a.Parts)
}

// Message counts a message; nil is nothing.
func (n *Wire) Message(m *a2a.Message) {
	if m == nil {
		return
	}
	*n += 64
	n.Texts(m.ID, m.ContextID, string(m.TaskID), string(m.Role))
	n.Texts(m.Extensions...)
	for _, id := range m.ReferenceTasks {
		n.Texts(string(id))
	}
	n.Object(m.Metadata)
	n.parts(m.Parts)
}

func (n *Wire) parts(parts a2a.ContentParts) {
	for _, p := range parts {
		if p == nil {
			continue
		}
		*n += 24
		n.Texts(p.Filename, p.MediaType)
		n.Object(p.Metadata)
		switch c := p.Content.(type) {
		case a2a.Text:
			n.Texts(string(c))
		case a2a.URL:
			n.Texts(string(c))
		case a2a.Raw:
			*n += Wire(len(c)/3*4 + 4)
		case a2a.Data:
			n.value(c.Value)
		}
	}
}

// Object counts the members of an object.
func (n *Wire) Object(o map[string]any) {
	for name, v := range o {
		n.Texts(name)
		n.value(v)
	}
}

// value counts what has been decoded from JSON, and what we put beside it.
func (n *Wire) value(v any) {
	switch v := v.(type) {
	case string:
		n.Texts(v)
	case map[string]any:
		*n += 2
		n.Object(v)
	case []any:
		*n += 2
		for _, v := range v {
			*n++
			n.value(v)
		}
	case nil, bool:
		*n += 5
	case float64:
		var digits [32]byte
		*n += Wire(len(strconv.AppendFloat(digits[:0], v, 'g', -1, 64)))
	default:
		*n += Wire(len(codec.Encode(v)))
	}
}

// Texts counts strings with their quotes and escapes.
func (n *Wire) Texts(list ...string) {
	for _, text := range list {
		if text == "" {
			continue // and left out
		}
		*n += Wire(len(text) + 4)
		for i := range len(text) {
			switch c := text[i]; {
			case c == '"', c == '\\', c == '\n', c == '\t', c == '\r':
				*n++
			case c < ' ', c == '<', c == '>', c == '&': // what the SDK encodes is fit for HTML
				*n += 5
			}
		}
	}
}

// EventFrame is about what an event takes in memory beside its text.
const EventFrame = 512

// OfEvent is about what an event takes in the journal.
func OfEvent(event a2a.Event) int {
	switch event := event.(type) {
	case *a2a.TaskArtifactUpdateEvent:
		n := 16
		for _, p := range event.Artifact.Parts {
			n += len(p.Text()) + len(p.Raw())*4/3
		}
		return n
	case *a2a.TaskStatusUpdateEvent:
		n := Wire(EventFrame)
		n.Message(event.Status.Message)
		n.Object(event.Metadata)
		return int(n)
	}
	return EventFrame
}
