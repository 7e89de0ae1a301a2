package platform

import (
	"encoding/json"
	"errors"
)

// An envelope is whatever the platform answers to a message: the peer's answer, or a
// note that the message waits, in the shapes of 202 (a full peer) and of 200 (one that
// polls, or a canvas that does not wait).
type envelope struct {
	Queued       bool            `json:"queued"`
	QueueID      string          `json:"queue_id"`
	Status       looseText       `json:"status"`
	DeliveryMode string          `json:"delivery_mode"`
	Result       result          `json:"result"`
	Error        json.RawMessage `json:"error"`
}

func (e envelope) waits() bool {
	return e.Queued || !e.Result.there && e.Status == "queued"
}

// longestNote is how long a note of the platform's may be. What has more is the text of a
// peer's, and is not read for one.
const longestNote = 64 << 10

func noteOf(text string) (e envelope, ok bool) {
	return e, len(text) <= longestNote && json.Unmarshal([]byte(text), &e) == nil && e.waits()
}

// QueuedText reports whether a text that stands where a reply is expected is the
// platform's note that the message waits.
func QueuedText(text string) bool {
	_, is := noteOf(text)
	return is
}

// PolledText reports whether such a note is about a peer that asks for its messages: the
// answer comes from the peer then, and not from the platform.
func PolledText(text string) bool {
	e, is := noteOf(text)
	return is && e.DeliveryMode == "poll"
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

func readReply(raw []byte) (out Reply, err error) {
	var e envelope
	if json.Unmarshal(raw, &e) != nil {
		return out, errors.New("the answer is no object")
	}
	switch {
	case e.waits():
		return Reply{Queued: true, QueueID: e.QueueID, DeliveryMode: e.DeliveryMode}, nil
	case present(e.Error):
		return out, peerError(e.Error)
	case !e.Result.present:
		return out, errors.New("the answer has no result")
	}
	return Reply{Text: e.Result.text}, nil
}

func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// peerError reads both shapes: JSON-RPC's object, and the platform's plain text.
func peerError(raw json.RawMessage) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return errors.New(cut(text, mostRefusal))
	}
	e := &PeerError{}
	if err := json.Unmarshal(raw, e); err != nil {
		return errors.New("the peer answers with an error of a shape that is not known")
	}
	e.Message = cut(e.Message, mostRefusal)
	return e
}
