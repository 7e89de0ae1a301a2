package server

import (
	"net/http"

	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
)

// A problem is the body of a refusal outside of the HTTP+JSON bindings. Error is a
// plain string, at the paths of JSON-RPC as well: that is what the platform reads.
type problem struct {
	Error     string   `json:"error"`
	RequestID string   `json:"requestId,omitempty"`
	Routes    []string `json:"routes,omitempty"`
}

// fail refuses r before any binding has looked at it, in the words of the one
// that its path belongs to.
func fail(w http.ResponseWriter, r *http.Request, status int, text string) {
	refuse(w, r, status, problem{Error: text, RequestID: requestID(r.Context())})
}

func refuse(w http.ResponseWriter, r *http.Request, status int, p problem) {
	switch {
	case ofREST(r.URL.Path):
		writeREST(w, r, status, wire.RefusalREST(status, p.Error, p.RequestID))
	default:
		writeJSON(w, status, p)
	}
}
