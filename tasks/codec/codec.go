// Package codec renders tasks, messages and events as the journal keeps them, and reads them
// again. What cannot be read has a word in its place.
package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

const (
	unreadText = "(the runtime could not read what it had kept here; its log says why)"
	plainJSON  = "application/json"
)

func unreadParts() a2a.ContentParts { return a2a.ContentParts{a2a.NewTextPart(unreadText)} }

// UnreadMessage stands for the nth message of a task, which cannot be read.
func UnreadMessage(n int) *a2a.Message {
	return &a2a.Message{ID: fmt.Sprintf("unreadable-%d", n), Role: a2a.MessageRoleAgent, Parts: unreadParts()}
}

// UnreadArtifact stands for the nth artifact of a task, which cannot be read.
func UnreadArtifact(n int) *a2a.Artifact {
	return &a2a.Artifact{ID: a2a.ArtifactID(fmt.Sprintf("unreadable-%d", n)), Parts: unreadParts()}
}

// DecodeAll reads messages or artifacts. With an error it has others in place of those
// that cannot be read.
func DecodeAll[T any](bodies [][]byte, other func(n int) *T) ([]*T, error) {
	if len(bodies) == 0 {
		return nil, nil
	}
	var faults []error
	out := make([]*T, len(bodies))
	for i, body := range bodies {
		v, mended, err := Decode[T](body)
		if err != nil {
			v = other(i)
		}
		out[i], faults = v, append(faults, mended, err)
	}
	return out, errors.Join(faults...)
}

// Decode reads a message or an artifact. Mended is why parts of it have others in their place.
func Decode[T any](body []byte) (v *T, mended, err error) {
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
		parts[i] = Encode(other)
	}
	members["parts"] = Encode(parts)
	return Encode(members)
}

// Encode renders data as JSON with its keys in order. What came in over the
// wire can always be encoded; anything else is shown as Go prints it.
func Encode(value any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return fmt.Appendf(nil, "%v", value)
	}
	return bytes.TrimSpace(b.Bytes())
}

// EncodeAll renders each one as [Encode] does.
func EncodeAll[T any](all []*T) [][]byte {
	out := make([][]byte, len(all))
	for i, v := range all {
		out[i] = Encode(v)
	}
	return out
}
