package platform

import (
	"encoding/json"
	"strings"
)

// A result is the text of a message or of a task, of either version of A2A. It is read out
// of the answer as that stands there, without a copy of what is in it: it is a peer who says
// what that is, and how much.
type result struct {
	text    string
	there   bool // it may be null
	present bool // and is not
	wraps   int  // in how many others it stands
}

// mostWraps is how deep a message or a task may be wrapped. Each level reads what is in
// it once more, and it is a peer who says how many there are.
const mostWraps = 3

// UnmarshalJSON implements [json.Unmarshaler].
func (r *result) UnmarshalJSON(raw []byte) error {
	r.there, r.present = true, present(raw)
	if r.wraps <= mostWraps {
		r.text = resultText(raw, r.wraps)
	}
	return nil
}

// resultText is the text of what is wrapped so deep. A task's status is looked at last: it
// may speak of the work, not of its result.
func resultText(raw []byte, wraps int) (text string) {
	if raw[0] == '"' {
		_ = json.Unmarshal(raw, &text)
		return text
	}
	var r struct {
		Parts     parts     `json:"parts"`
		Artifacts artifacts `json:"artifacts"`
		Status    struct {
			Message struct {
				Parts parts `json:"parts"`
			} `json:"message"`
		} `json:"status"`
		Message result `json:"message"`
		Task    result `json:"task"`
	}
	r.Message.wraps, r.Task.wraps = wraps+1, wraps+1
	_ = json.Unmarshal(raw, &r) // what is of another form has no text
	switch {
	case r.Parts != "":
		return string(r.Parts)
	case r.Artifacts != "":
		return string(r.Artifacts)
	case r.Message.present && wraps < mostWraps:
		return r.Message.text
	case r.Task.present && wraps < mostWraps:
		return r.Task.text
	}
	return string(r.Status.Message.Parts)
}

// Artifacts are the text of those of a task.
type artifacts string

// UnmarshalJSON implements [json.Unmarshaler].
func (a *artifacts) UnmarshalJSON(raw []byte) error {
	type artifact struct {
		Parts parts `json:"parts"`
	}
	all, more, _ := First[artifact](raw, MostElements)
	var texts []string
	for _, one := range all {
		if one.Parts != "" {
			texts = append(texts, string(one.Parts))
		}
	}
	*a = artifacts(joined(texts, more))
	return nil
}

// A part is one of either version of A2A; those of the SDK wrap it in a root, once.
type part struct {
	wrapped
	Root *wrapped `json:"root"`
}

// A wrapped is a part without a root: of roots in a root nothing is made.
type wrapped struct {
	Kind string `json:"kind"`
	Type string `json:"type"`
	Text string `json:"text"`
}

// Parts are the text of those of a message.
type parts string

// UnmarshalJSON implements [json.Unmarshaler].
func (p *parts) UnmarshalJSON(raw []byte) error {
	all, more, _ := First[part](raw, MostElements)
	var texts []string
	for _, one := range all {
		if one.Root != nil {
			one.wrapped = *one.Root
		}
		if one.Text != "" && (one.Kind == "text" || one.Kind == "" && (one.Type == "text" || one.Type == "")) {
			texts = append(texts, one.Text)
		}
	}
	*p = parts(joined(texts, more))
	return nil
}

// joined are the texts, and a word that there are more where that is so.
func joined(texts []string, more bool) string {
	if more && len(texts) > 0 {
		texts = append(texts, "(There was more of it, which is left out here.)")
	}
	return strings.Join(texts, "\n")
}
