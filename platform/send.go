package platform

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// A Message is a text for a peer, sent through the platform.
type Message struct {
	ID       string         // of the message: the same one twice is one for who dedupes
	Context  string         // "" for the peer's main conversation
	Text     string         //
	Metadata map[string]any // of the request: parent_task_id, source_workspace_id, …
	Limit    time.Duration  // how long an answer is waited for; 0 is 5 minutes
}

const sendTimeout = 5 * time.Minute

// A Reply is what came of a message.
type Reply struct {
	// Queued says that the platform has the message and the peer has not: there is
	// no reply yet, and none will come back on this way.
	Queued       bool
	QueueID      string
	DeliveryMode string // poll, push-async or ""

	Text string // of a reply: its text parts, joined by newlines
}

// A PeerError is a refusal by the peer's own interface.
type PeerError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *PeerError) Error() string {
	return fmt.Sprintf("the peer answers: %s (code=%d)", e.Message, e.Code)
}

// NoAnswer stands in the metadata of a message, and true, where agents read it and do not answer: two of them would
// answer each other for ever.
const NoAnswer = "molecule_channel_reply"

// Send has the platform hand a message to a peer and returns its reply. It is not
// repeated once the platform may have it.
func (c *Client) Send(ctx context.Context, target string, m Message) (Reply, error) {
	const op = "send to a peer"
	type part struct {
		Kind string `json:"kind"`
		Text string `json:"text"`
	}
	type message struct {
		Role      string `json:"role"`
		MessageID string `json:"messageId"`
		ContextID string `json:"contextId,omitempty"`
		Parts     []part `json:"parts"`
	}
	type params struct {
		Message  message        `json:"message"`
		Metadata map[string]any `json:"metadata,omitempty"`
	}
	body := struct {
		JSONRPC string `json:"jsonrpc"`
		ID      string `json:"id"`
		Method  string `json:"method"`
		Params  params `json:"params"`
	}{"2.0", m.ID, "message/send", params{message{"user", m.ID, m.Context, []part{{"text", m.Text}}}, m.Metadata}}
	limit := m.Limit
	if limit == 0 {
		limit = sendTimeout
	}
	var answer readAnswer
	err := c.call(ctx, request{
		op: op, method: http.MethodPost, path: of(target, "/a2a"), body: body, out: &answer, limit: limit,
	})
	if _, odd := errors.AsType[*answerError](err); odd || errors.Is(err, ErrTooMuch) {
		return Reply{}, &TakenError{err} // it is the peer's own answer that stands there
	}
	if err != nil {
		return Reply{}, err
	}
	if answer.err != nil {
		return answer.Reply, &TakenError{fmt.Errorf("%s: %w", op, answer.err)}
	}
	return answer.Reply, nil
}

// A readAnswer is what a peer has answered, read where the answer stands.
type readAnswer struct {
	Reply
	err error // of an answer that is JSON
}

// UnmarshalJSON implements [json.Unmarshaler].
func (a *readAnswer) UnmarshalJSON(raw []byte) error {
	a.Reply, a.err = readReply(raw)
	return nil
}
