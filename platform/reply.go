package platform

import (
	"encoding/json"
	"errors"
	"strings"
)

// An envelope is whatever the platform answers to a message: the peer's answer, or a
// note that the message waits, in the shapes of 202 (a full peer) and of 200 (one that
// polls, or a canvas that does not wait).
type envelope struct {
	Queued       bool            `json:"queued"`
	QueueID      string          `json:"queue_id"`
	Status       json.RawMessage `json:"status"`
	DeliveryMode string          `json:"delivery_mode"`
	Result       json.RawMessage `json:"result"`
	Error        json.RawMessage `json:"error"`
}

func (e envelope) waits() bool {
	var status string
	return e.Queued || len(e.Result) == 0 && json.Unmarshal(e.Status, &status) == nil && status == "queued"
}

// QueuedText reports whether a text that stands where a reply is expected is the
// platform's note that the message waits.
func QueuedText(text string) bool {
	var e envelope
	return json.Unmarshal([]byte(text), &e) == nil && e.waits()
}

// PolledText reports whether such a note is about a peer that asks for its messages: the
// answer comes from the peer then, and not from the platform.
func PolledText(text string) bool {
	var e envelope
	return json.Unmarshal([]byte(text), &e) == nil && e.waits() && e.DeliveryMode == "poll"
}

// Answer is the answer of A2A that the row has: ours to the message of a peer, or a peer's
// to a task of ours. It is "" where there is none, or only the note that the message waits.
func (r Row) Answer() string {
	reply, err := readReply(r.ResponseBody)
	if err != nil || QueuedText(reply.Text) {
		return ""
	}
	return reply.Text
}

// Reply is [Row.Answer], or what the platform has written down of a peer's.
func (r Row) Reply() string {
	var told struct {
		Text string `json:"text"`
	}
	reply, err := readReply(r.ResponseBody)
	if err != nil && json.Unmarshal(r.ResponseBody, &told) == nil {
		reply.Text = told.Text
	}
	if QueuedText(reply.Text) {
		return ""
	}
	return reply.Text
}

func readReply(raw json.RawMessage) (Reply, error) {
	out := Reply{Raw: raw}
	var e envelope
	if err := json.Unmarshal(raw, &e); err != nil {
		return out, errors.New("the answer is no object")
	}
	if e.waits() {
		out.Queued, out.QueueID, out.DeliveryMode = true, e.QueueID, e.DeliveryMode
		return out, nil
	}
	if present(e.Error) {
		return out, peerError(e.Error)
	}
	if !present(e.Result) {
		return out, errors.New("the answer has no result")
	}
	out.Text = resultText(e.Result, mostWraps)
	return out, nil
}

func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// peerError reads both shapes: JSON-RPC's object, and the platform's plain text.
func peerError(raw json.RawMessage) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return errors.New(text)
	}
	e := &PeerError{}
	if err := json.Unmarshal(raw, e); err != nil {
		return errors.New("the peer answers with an error of a shape that is not known")
	}
	return e
}

// A part is one of either version of A2A; those of the SDK wrap it in a root.
type part struct {
	Kind string `json:"kind"`
	Type string `json:"type"`
	Text string `json:"text"`
	Root *part  `json:"root"`
}

// mostWraps is how deep a message or a task may be wrapped. Each level reads what is in
// it once more, and it is a peer who says how many there are.
const mostWraps = 3

// resultText is the text of a message or of a task, of either version. A task's
// status is looked at last: it may speak of the work, not of its result.
func resultText(raw json.RawMessage, wraps int) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var result struct {
		Parts     json.RawMessage   `json:"parts"`
		Artifacts []json.RawMessage `json:"artifacts"`
		Status    json.RawMessage   `json:"status"`
		Message   json.RawMessage   `json:"message"`
		Task      json.RawMessage   `json:"task"`
	}
	if json.Unmarshal(raw, &result) != nil {
		return ""
	}
	if text = textOf(result.Parts); text != "" {
		return text
	}
	var texts []string
	for _, artifact := range result.Artifacts {
		if text = textOf(member(artifact, "parts")); text != "" {
			texts = append(texts, text)
		}
	}
	if len(texts) > 0 {
		return strings.Join(texts, "\n")
	}
	for _, wrapped := range []json.RawMessage{result.Message, result.Task} {
		if present(wrapped) && wraps > 0 {
			return resultText(wrapped, wraps-1)
		}
	}
	return textOf(member(member(result.Status, "message"), "parts"))
}

// member is that of an object, or nil.
func member(raw json.RawMessage, name string) json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return nil
	}
	return object[name]
}

func textOf(raw json.RawMessage) string {
	var parts []part
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	var texts []string
	for _, p := range parts {
		if p.Root != nil {
			p = *p.Root
		}
		if p.Text != "" && (p.Kind == "text" || p.Kind == "" && (p.Type == "text" || p.Type == "")) {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}
