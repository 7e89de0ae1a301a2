package respond

import (
	"context"
	"fmt"
	"net/http"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
)

// A Problem is the body of a refusal outside of the HTTP+JSON bindings. Error is a
// plain string, at the paths of JSON-RPC as well: that is what the platform reads.
type Problem struct {
	Error     string   `json:"error"`
	RequestID string   `json:"requestId,omitempty"`
	Routes    []string `json:"routes,omitempty"`
}

// Fail refuses r before any binding has looked at it; see [Refuse].
func Fail(w http.ResponseWriter, r *http.Request, status int, text string) {
	Refuse(w, r, status, Problem{Error: text, RequestID: RequestID(r.Context())})
}

// Refuse refuses r with p, in the words of the binding that its path belongs to.
func Refuse(w http.ResponseWriter, r *http.Request, status int, p Problem) {
	switch {
	case OfREST(r.URL.Path):
		REST(w, r, status, wire.RefusalREST(status, p.Error, p.RequestID))
	default:
		JSON(w, status, p)
	}
}

// RetryAfter is how many seconds a caller that came at a bad time waits.
const RetryAfter = "5"

// InternalError is the error of what is wrong with us: the log says what.
func InternalError(ctx context.Context) error {
	text := "internal error"
	if id := RequestID(ctx); id != "" {
		text = fmt.Sprintf("internal error; the log says more under request %s", id)
	}
	return a2a.NewError(a2a.ErrInternalError, text)
}
