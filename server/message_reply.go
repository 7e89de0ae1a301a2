package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// replyV0 is a message as the platform of a workspace and its agents read it: that of
// 0.3, and beside its members the tokens that it has cost.
func replyV0(m *a2a.Message) (any, error) {
	event, err := v0Event(m)
	if err != nil {
		return nil, err
	}
	usage, _ := m.Metadata[tasks.MetaUsage].(map[string]any)
	if usage == nil {
		return event, nil
	}
	raw, err := marshal(event)
	if err != nil {
		return nil, err
	}
	var members object
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, err
	}
	members.set("usage", map[string]any{"input_tokens": usage["inputTokens"], "output_tokens": usage["outputTokens"]})
	return marshal(members)
}

// replyToFault makes a reply of an error that is ours and not the caller's: his readers
// know of messages only, and take the status for the outcome. It returns nil for errors
// that stay what they are.
func replyToFault(ctx context.Context, contextID string, err error) *a2a.Message {
	if !errors.Is(err, a2a.ErrServerError) && !errors.Is(err, a2a.ErrInternalError) {
		return nil
	}
	tasks.ReceiptOf(ctx).Settle(false) // this is not the answer
	return tasks.FaultReply(contextID, err.Error())
}

// A cutOffError ends a call because the server stops. Most callers are told so. A platform that waits for
// a Message takes for done what is answered, and keeps what meets a broken connection, to send it again.
type cutOffError struct {
	error
	silent bool // the connection is closed in place of an answer
}

func (e cutOffError) Unwrap() error { return e.error }

// deliver writes an answer to where it is read, as far as we can see. Who has gone by
// then has gone before it; whoever goes afterwards may well have read it, and many do so
// at once.
func deliver(w http.ResponseWriter, r *http.Request, body []byte) bool {
	gone := r.Context().Err() != nil
	writeBody(w, plainJSON, http.StatusOK, body)
	err := http.NewResponseController(w).Flush()
	return (err == nil || errors.Is(err, http.ErrNotSupported)) && !gone
}
