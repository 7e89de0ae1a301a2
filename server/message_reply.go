package server

import (
	"context"
	"errors"
	"net/http"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

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
	writeBody(w, wire.JSON, http.StatusOK, body)
	err := http.NewResponseController(w).Flush()
	return (err == nil || errors.Is(err, http.ErrNotSupported)) && !gone
}
