package tasks

import (
	"encoding/json"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/refusal"
)

// The SDK's types can hold parts that it writes and does not read again. What is kept is
// read by everyone: nothing that cannot be is taken, and what is there all the same, from an
// earlier version or a disk, costs no more than itself.

// checkKeepable refuses a message that could not be read again.
func checkKeepable(m *a2a.Message) error {
	for i, p := range m.Parts {
		switch {
		case isVoid(p):
			return refusal.New(a2a.ErrInvalidParams, "message.parts[%d] is empty", i)
		case !encodable(p.Data()) || !encodable(p.Metadata):
			return refusal.New(a2a.ErrInvalidParams, "message.parts[%d] cannot be written as JSON", i)
		}
	}
	if !encodable(m.Metadata) {
		return refusal.New(a2a.ErrInvalidParams, "message.metadata cannot be written as JSON")
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

// unread logs, once for each task, that not all of it could be read.
func (e *Engine) unread(id string, why error) {
	if why == nil {
		return
	}
	if _, said := e.unreadable.LoadOrStore(id, true); !said {
		e.log.Error("not all of a task in the state database can be read; the rest of it is shown", "task_id", id, "err", why)
	}
}
