package tasks

import (
	"strconv"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// A wireCount adds up about what things take on the wire, without making it.
type wireCount int

// wireSize is about what a task takes on the wire.
func wireSize(task *a2a.Task) int {
	n := wireCount(128)
	n.texts(string(task.ID), task.ContextID, string(task.Status.State))
	n.object(task.Metadata)
	n.message(task.Status.Message)
	for _, a := range task.Artifacts {
		n.artifact(a)
	}
	for _, m := range task.History {
		n.message(m)
	}
	return int(n)
}

func (n *wireCount) artifact(a *a2a.Artifact) {
	if a == nil {
		return
	}
	*n += 64
	n.texts(string(a.ID), a.Name, a.Description)
	n.texts(a.Extensions...)
	n.object(a.Metadata)
	n.parts(a.Parts)
}

func (n *wireCount) message(m *a2a.Message) {
	if m == nil {
		return
	}
	*n += 64
	n.texts(m.ID, m.ContextID, string(m.TaskID), string(m.Role))
	n.texts(m.Extensions...)
	for _, id := range m.ReferenceTasks {
		n.texts(string(id))
	}
	n.object(m.Metadata)
	n.parts(m.Parts)
}

func (n *wireCount) parts(parts a2a.ContentParts) {
	for _, p := range parts {
		if p == nil {
			continue
		}
		*n += 24
		n.texts(p.Filename, p.MediaType)
		n.object(p.Metadata)
		switch c := p.Content.(type) {
		case a2a.Text:
			n.texts(string(c))
		case a2a.URL:
			n.texts(string(c))
		case a2a.Raw:
			*n += wireCount(len(c)/3*4 + 4)
		case a2a.Data:
			n.value(c.Value)
		}
	}
}

func (n *wireCount) object(o map[string]any) {
	for name, v := range o {
		n.texts(name)
		n.value(v)
	}
}

// value counts what has been decoded from JSON, and what we put beside it.
func (n *wireCount) value(v any) {
	switch v := v.(type) {
	case string:
		n.texts(v)
	case map[string]any:
		*n += 2
		n.object(v)
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
		*n += wireCount(len(strconv.AppendFloat(digits[:0], v, 'g', -1, 64)))
	default:
		*n += wireCount(len(encode(v)))
	}
}

// texts counts strings with their quotes and escapes.
func (n *wireCount) texts(list ...string) {
	for _, text := range list {
		if text == "" {
			continue // and left out
		}
		*n += wireCount(len(text) + 4)
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
