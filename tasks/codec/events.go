package codec

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// A record is one or more consecutive events of a task as the journal keeps
// them. Exactly one of its members is set.
type record struct {
	Event *a2a.StreamResponse `json:"e,omitempty"`
	Text  *textRun            `json:"t,omitempty"`
}

// A textRun is a series of chunks that were appended to one text: what they
// have in common once, and the text once. A chunk of a few characters costs
// two or three bytes this way, and three hundred as an event of its own.
type textRun struct {
	Artifact *a2a.Artifact `json:"a"` // without its parts
	Media    string        `json:"m,omitempty"`
	Lengths  []int         `json:"n"` // of the chunks, in bytes
	Text     string        `json:"s"`
}

// EncodeEvents makes the body of a batch. WithoutWords looks for the members of a state in it as they
// are written here, by their names.
func EncodeEvents(events []a2a.Event) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	for len(events) > 0 {
		rec, n := nextRecord(events)
		if err := enc.Encode(rec); err != nil {
			return nil, fmt.Errorf("encode an event of type %T: %w", events[0], err)
		}
		events = events[n:]
	}
	return buf.Bytes(), nil
}

// nextRecord makes a record of the first events and says of how many.
func nextRecord(events []a2a.Event) (rec record, n int) {
	first, ok := chunkOf(events[0])
	if !ok {
		return record{Event: &a2a.StreamResponse{Event: events[0]}}, 1
	}
	common := *first
	common.Parts = nil
	run := &textRun{Artifact: &common, Media: first.Parts[0].MediaType}
	var text bytes.Buffer
	for _, event := range events {
		chunk, ok := chunkOf(event)
		if !ok || chunk.ID != first.ID || chunk.Parts[0].MediaType != run.Media {
			break
		}
		text.WriteString(chunk.Parts[0].Text())
		run.Lengths = append(run.Lengths, len(chunk.Parts[0].Text()))
		n++
	}
	run.Text = text.String()
	return record{Text: run}, n
}

// chunkOf returns the artifact of an event that adds text to one and does
// nothing else.
func chunkOf(event a2a.Event) (*a2a.Artifact, bool) {
	update, ok := event.(*a2a.TaskArtifactUpdateEvent)
	if !ok || !update.Append || update.LastChunk || len(update.Metadata) > 0 || len(update.Artifact.Parts) != 1 {
		return nil, false
	}
	_, isText := update.Artifact.Parts[0].Content.(a2a.Text)
	return update.Artifact, isText
}

// WithoutWords takes out of the body of a batch, which it changes, the states that only say
// something, progress and what is asked: there can be much of it, and a start makes nothing of it.
// It looks at the bytes that EncodeEvents writes. What a start goes by has metadata, and progress has
// none; a question has, but the begin of its turn came before it.
func WithoutWords(body []byte) []byte {
	left := body[:0]
	for rec := range bytes.Lines(body) {
		words := bytes.HasPrefix(rec, []byte(`{"e":{"statusUpdate":`)) &&
			(!bytes.Contains(rec, []byte(`"metadata":`)) || bytes.Contains(rec, []byte(`"state":"`+a2a.TaskStateInputRequired+`"`)))
		if !words {
			left = append(left, rec...)
		}
	}
	return left
}

// DecodeEvents returns the events of a batch, those of the task info.
func DecodeEvents(body []byte, info a2a.TaskInfo) ([]a2a.Event, error) {
	var events []a2a.Event
	dec := json.NewDecoder(bytes.NewReader(body))
	for dec.More() {
		var rec record
		if err := dec.Decode(&rec); err != nil {
			return nil, fmt.Errorf("decode the events of task %s: %w", info.TaskID, err)
		}
		switch {
		case rec.Event != nil:
			events = append(events, rec.Event.Event)
		case rec.Text != nil:
			chunks, err := rec.Text.chunks(info)
			if err != nil {
				return nil, err
			}
			events = append(events, chunks...)
		}
	}
	return events, nil
}

func (run *textRun) chunks(info a2a.TaskInfo) ([]a2a.Event, error) {
	events := make([]a2a.Event, 0, len(run.Lengths))
	text := run.Text
	for _, n := range run.Lengths {
		if n < 0 || n > len(text) || run.Artifact == nil {
			return nil, fmt.Errorf("decode the events of task %s: a text is shorter than its chunks", info.TaskID)
		}
		part := a2a.NewTextPart(text[:n])
		part.MediaType = run.Media
		artifact := *run.Artifact
		artifact.Parts = a2a.ContentParts{part}
		events = append(events, &a2a.TaskArtifactUpdateEvent{
			TaskID: info.TaskID, ContextID: info.ContextID, Append: true, Artifact: &artifact,
		})
		text = text[n:]
	}
	return events, nil
}
