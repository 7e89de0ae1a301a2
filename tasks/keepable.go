package tasks

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// The SDK's types can hold parts that it writes and does not read again. What is kept is
// read by everyone: nothing that cannot be is taken, and what is there all the same, from an
// earlier version or a disk, costs no more than itself.

// checkKeepable refuses a message that could not be read again.
func checkKeepable(m *a2a.Message) error {
	for i, p := range m.Parts {
		switch {
		case isVoid(p):
			return refuse(a2a.ErrInvalidParams, "message.parts[%d] is empty", i)
		case !encodable(p.Data()) || !encodable(p.Metadata):
			return refuse(a2a.ErrInvalidParams, "message.parts[%d] cannot be written as JSON", i)
		}
	}
	if !encodable(m.Metadata) {
		return refuse(a2a.ErrInvalidParams, "message.metadata cannot be written as JSON")
	}
	return nil
}

// isVoid reports whether nothing would be written of what a part says.
func isVoid(p *a2a.Part) bool {
	if p == nil {
		return true
	}
	switch c := p.Content.(type) {
	case a2a.Text:
		return false
	case a2a.Raw:
		return c == nil
	case a2a.Data:
		return c.Value == nil
	case a2a.URL:
		return c == ""
	}
	return true
}

// encodable reports whether a value of a caller is one of JSON.
func encodable(value any) bool {
	if m, ok := value.(map[string]any); value == nil || ok && len(m) == 0 {
		return true
	}
	_, err := json.Marshal(value)
	return err == nil
}

const (
	unreadText = "(the runtime could not read what it had kept here; its log says why)"
	plainJSON  = "application/json"
)

func unreadParts() a2a.ContentParts { return a2a.ContentParts{a2a.NewTextPart(unreadText)} }

// unreadMessage and unreadArtifact stand for the nth one of a task, which cannot be read.
func unreadMessage(n int) *a2a.Message {
	return &a2a.Message{ID: fmt.Sprintf("unreadable-%d", n), Role: a2a.MessageRoleAgent, Parts: unreadParts()}
}

func unreadArtifact(n int) *a2a.Artifact {
	return &a2a.Artifact{ID: a2a.ArtifactID(fmt.Sprintf("unreadable-%d", n)), Parts: unreadParts()}
}

// decodeAll reads messages or artifacts. With an error it has others in place of those
// that cannot be read.
func decodeAll[T any](bodies [][]byte, other func(n int) *T) ([]*T, error) {
	if len(bodies) == 0 {
		return nil, nil
	}
	var faults []error
	out := make([]*T, len(bodies))
	for i, body := range bodies {
		v, mended, err := decode[T](body)
		if err != nil {
			v = other(i)
		}
		out[i], faults = v, append(faults, mended, err)
	}
	return out, errors.Join(faults...)
}

// decode reads a message or an artifact. Mended is why parts of it have others in their place.
func decode[T any](body []byte) (v *T, mended, err error) {
	v = new(T)
	if err = json.Unmarshal(body, v); err == nil {
		return v, nil, nil
	}
	v = new(T)
	if json.Unmarshal(mendParts(body), v) != nil {
		return nil, nil, err
	}
	return v, err, nil
}

// mendParts puts others in the place of parts that cannot be read; nil if it cannot. Data
// that are null, which earlier versions have written, become what the model has seen of them.
func mendParts(body []byte) []byte {
	var members map[string]json.RawMessage
	var parts []json.RawMessage
	if json.Unmarshal(body, &members) != nil || json.Unmarshal(members["parts"], &parts) != nil {
		return nil
	}
	for i, raw := range parts {
		if json.Unmarshal(raw, new(a2a.Part)) == nil {
			continue
		}
		var part map[string]json.RawMessage
		other := a2a.NewTextPart(unreadText)
		if json.Unmarshal(raw, &part) == nil && string(part["data"]) == "null" {
			other = a2a.NewTextPart("null")
			other.MediaType = plainJSON
		}
		parts[i] = encode(other)
	}
	members["parts"] = encode(parts)
	return encode(members)
}

// unread logs, once for each task, that not all of it could be read.
func (e *Engine) unread(id string, why error) {
	if why == nil {
		return
	}
	if _, said := e.unreadable.LoadOrStore(id, true); !said {
		e.log.Error("not all of a task in the state database can be read; the rest of it is shown", "task_id", id, "err", why)
	}
}
