package wirelog

import (
	"bytes"
	"encoding/json"
)

// asksForSecret notes a question of codex whose answer is a secret. The question
// itself is none.
func (w *writer) asksForSecret(e entry) bool {
	if e.kind == kindReceive && bytes.Contains(e.text, []byte(`"isSecret":true`)) {
		if id := idOf(e.text); id != "" {
			w.secret[id] = true
		}
	}
	return false
}

// tellsSecret reports whether an entry is the answer to such a question.
func (w *writer) tellsSecret(e entry) bool {
	if len(w.secret) == 0 {
		return false
	}
	if e.kind == kindEvent {
		return e.event == EventAnswer
	}
	id := idOf(e.text)
	if e.kind != kindSend || !w.secret[id] || bytes.Contains(e.text[:min(len(e.text), 32)], []byte(`"method"`)) {
		return false
	}
	delete(w.secret, id)
	return true
}

func idOf(message []byte) string {
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(message, &m) != nil {
		return ""
	}
	return string(m.ID)
}

// kept are the members that a record cannot be read without.
func kept(name string) bool {
	switch name {
	case "id", "ID", "job", "Question", "question", "method", "Type", "type":
		return true
	}
	return false
}

// allHidden is a message with nothing to read in it but names.
func allHidden(text []byte) []byte {
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return encode(mask)
	}
	return encode(hide(v, ""))
}

func hide(v any, name string) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = hide(member, name)
		}
	case []any:
		for i, member := range v {
			v[i] = hide(member, name)
		}
	case string:
		if !kept(name) && v != "" {
			return mask
		}
	}
	return v
}
