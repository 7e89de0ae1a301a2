package channel

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// An entry is what is kept of a row until it is answered.
type entry struct {
	Text  string `json:"text"`
	Files []File `json:"files,omitempty"`
	// Refused says why the row is not given; what is kept of it then is that alone.
	Refused string `json:"refused,omitempty"`
	// Written is as that of a [platform.Row].
	Written time.Time `json:"written,omitzero"`
	// Delegation is that whose end the row is.
	Delegation string `json:"delegation,omitempty"`
	Origin
	// Beside is the whole request, if it may say what its text does not.
	Beside json.RawMessage `json:"beside,omitempty"`
}

func (e entry) encode() []byte {
	body, _ := json.Marshal(e) // of such a type it never fails
	return body
}

func decodeEntry(body []byte) (e entry, err error) {
	err = json.Unmarshal(body, &e)
	return e, err
}

// emptyText stands where a message says nothing: it is answered, too.
const emptyText = "(empty A2A message)"

// A part is one of either version of A2A.
type part struct {
	Kind string  `json:"kind"`
	Type string  `json:"type"`
	Text *string `json:"text"`
	File *struct {
		URI       string `json:"uri"`
		Bytes     []byte `json:"bytes"`
		Name      string `json:"name"`
		MimeType  string `json:"mimeType"`
		MediaType string `json:"mediaType"`
	} `json:"file"`
	URL       string `json:"url"`
	Raw       []byte `json:"raw"`
	Filename  string `json:"filename"`
	MediaType string `json:"mediaType"`
}

// A body is a request as it stands in a row: JSON-RPC, its params, or a message.
type body struct {
	Text     string          `json:"text"`
	Parts    json.RawMessage `json:"parts"`
	Params   layer           `json:"params"`
	Message  layer           `json:"message"`
	Metadata metadata        `json:"metadata"`

	Delegation string `json:"delegation_id"`

	// Of a row that tells of a file.
	URI      string `json:"uri"`
	Name     string `json:"name"`
	MimeType string `json:"mimeType"`
	Size     int64  `json:"size"`
}

// Metadata are what is read of a message's. They are another agent's, so nothing is made of
// what else stands there.
type metadata struct {
	Marker     json.RawMessage `json:"molecule_channel_reply"` // [platform.NoAnswer]
	Delegation json.RawMessage `json:"delegation_id"`
}

// A layer is a body within others, as many as its depth and one. There is none where
// something else than an object stands.
type layer struct {
	*body
	depth int
}

// mostLayers is how deep bodies are looked for: a message lies in the params of a request.
// Each may have two, and it is a peer who says how many there are.
const mostLayers = 4

// UnmarshalJSON implements [json.Unmarshaler]. What is of another form does not hide the rest.
func (l *layer) UnmarshalJSON(raw []byte) error {
	if l.depth >= mostLayers || raw[0] != '{' {
		return nil
	}
	if l.body == nil {
		l.body = &body{Params: layer{depth: l.depth + 1}, Message: layer{depth: l.depth + 1}}
	}
	_ = json.Unmarshal(raw, l.body)
	return nil
}

// layers are the objects that may hold the message, the innermost first.
func (b *body) layers() (all []*body) {
	b.collect(&all)
	return all
}

func (b *body) collect(to *[]*body) {
	if b == nil {
		return
	}
	b.Message.collect(to)
	b.Params.collect(to)
	*to = append(*to, b)
}

func bodyOf(raw json.RawMessage) *body {
	var b body
	if len(raw) == 0 || !decode(raw, &b) {
		return &body{}
	}
	return &b
}

// decode reads as much of a JSON text as is of the form that it should be. What is not
// must not hide the rest.
func decode(raw json.RawMessage, out any) bool {
	err := json.Unmarshal(raw, out)
	_, broken := errors.AsType[*json.SyntaxError](err)
	return !broken
}

// content is what a row says: the text of its message, else its summary, and its files. The
// layers are those of its request.
func content(r platform.Row, layers []*body) (e entry) {
	e.Origin = originOf(r)
	if r.Lacks("request_body", "attachments", "method") {
		e.Refused = tooLarge
	}
	for _, layer := range layers {
		said := layer.read()
		if e.Text == "" {
			e.Text = said.Text
		}
		if e.Files == nil {
			e.Files = said.Files
		}
		if e.Refused == "" {
			e.Refused = said.Refused
		}
	}
	known := map[string]bool{}
	for _, f := range e.Files {
		known[f.URI] = true
	}
	for _, a := range r.Attachments {
		if a.URI == "" || known[a.URI] {
			continue
		}
		if len(e.Files) == mostParts {
			e.Refused = tooManyParts
			break
		}
		known[a.URI] = true
		e.Files = append(e.Files, File{URI: a.URI, Name: a.Name, MediaType: a.MimeType})
	}
	if strings.TrimSpace(e.Text) == "" && len(e.Files) == 0 {
		e.Text = r.Summary
	}
	if strings.TrimSpace(e.Text) == "" && len(e.Files) == 0 {
		e.Text = emptyText
	}
	return e
}

// read returns what a message says, its flat text before that of its parts.
func (b *body) read() (said entry) {
	parts, more, _ := platform.First[part](b.Parts, mostParts)
	if more {
		said.Refused = tooManyParts
	}
	var texts []string
	for _, p := range parts {
		if file, ok := p.file(); ok {
			said.Files = append(said.Files, file)
		} else if p.Text != nil && (p.Kind == "text" || p.Kind == "" && (p.Type == "text" || p.Type == "")) {
			texts = append(texts, *p.Text)
		}
	}
	if said.Text = b.Text; said.Text == "" {
		said.Text = strings.Join(texts, "\n")
	}
	return said
}

func (p part) file() (File, bool) {
	switch {
	case p.File != nil:
		media := p.File.MimeType
		if media == "" {
			media = p.File.MediaType
		}
		return File{URI: p.File.URI, Bytes: p.File.Bytes, Name: p.File.Name, MediaType: media}, p.File.URI != "" || len(p.File.Bytes) > 0
	case p.URL != "" || len(p.Raw) > 0:
		return File{URI: p.URL, Bytes: p.Raw, Name: p.Filename, MediaType: p.MediaType}, true
	}
	return File{}, false
}

// marked reports whether a message says that it is the reply of a channel, wherever that
// stands in it.
func marked(layers []*body) bool {
	for _, layer := range layers {
		if says := layer.Metadata.Marker; says != nil {
			return string(says) == "true"
		}
	}
	return false
}
