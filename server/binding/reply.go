package binding

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/server/respond"
	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/reply"
)

// replyToFault makes a reply of an error that is ours and not the caller's: its readers
// know of messages only, and take the status for the outcome. It returns nil for errors
// that stay what they are.
func replyToFault(ctx context.Context, contextID string, err error) *a2a.Message {
	if !errors.Is(err, a2a.ErrServerError) && !errors.Is(err, a2a.ErrInternalError) {
		return nil
	}
	tasks.ReceiptOf(ctx).Settle(false) // this is not the answer
	return reply.Fault(contextID, err.Error())
}

// deliver writes an answer, and reports whether it can have been read: a caller that has gone
// before has not, and one that goes afterwards may have, as many do that close at once.
func deliver(w http.ResponseWriter, r *http.Request, body []byte) bool {
	gone := r.Context().Err() != nil
	respond.Body(w, wire.JSON, http.StatusOK, body)
	err := http.NewResponseController(w).Flush()
	return (err == nil || errors.Is(err, http.ErrNotSupported)) && !gone
}

// UnionCard is the card with the members of both versions. A card that names no
// interface for 0.3 has no such form and is left as it is.
func UnionCard(ctx context.Context, card *a2a.AgentCard) (json.RawMessage, error) {
	for _, i := range card.SupportedInterfaces {
		if i.ProtocolVersion == a2av0.Version {
			return adapter.UnionCard(ctx, card)
		}
	}
	return json.Marshal(card)
}
