package wire

import (
	"encoding/json"

	legacy "github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
)

// V0Message reads the params of message/send and message/stream. With newID, which makes
// an id, a message may lack what [v0Fill] adds.
func V0Message(raw json.RawMessage, newID func() string) (*a2a.SendMessageRequest, error) {
	raw, err := lenientV0(raw, newID)
	if err != nil {
		return nil, err
	}
	p, err := AsIs[legacy.MessageSendParams](raw)
	if err != nil {
		return nil, err
	}
	req, err := a2av0.ToV1SendMessageRequest(p)
	if err != nil {
		return nil, paramsError(err)
	}
	mediaFromV0(req.Message)
	return req, nil
}

// V0Task is a task of 0.3.
func V0Task(t *a2a.Task) *legacy.Task {
	out, _ := mediaToV0(t).(*a2a.Task)
	return a2av0.FromV1Task(out)
}

// TaskV0 writes a task as A2A 0.3 has it.
func TaskV0(t *a2a.Task) ([]byte, error) { return Marshal(V0Task(t)) }

// V0Event is an event of 0.3, or a result.
func V0Event(e a2a.Event) (any, error) { return a2av0.FromV1Event(mediaToV0(e)) }

// V0Reply is a message as the platform of a workspace and its agents read it: that of
// 0.3, and beside its members the tokens that it has cost, if usage says so.
func V0Reply(m *a2a.Message, usage map[string]any) (any, error) {
	event, err := V0Event(m)
	if err != nil || usage == nil {
		return event, err
	}
	raw, err := Marshal(event)
	if err != nil {
		return nil, err
	}
	var members object
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, err
	}
	members.set("usage", map[string]any{"input_tokens": usage["inputTokens"], "output_tokens": usage["outputTokens"]})
	return Marshal(members)
}
