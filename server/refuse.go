package server

import (
	"net/http"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/errordetails"
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
		k := refusalOf(status)
		writeREST(w, r, status, restError{restStatus{
			Code: status, Status: k.name, Message: p.Error, Details: []*errordetails.Typed{
				errordetails.NewErrorInfo(a2a.ErrorReason(k.err), a2a.ProtocolDomain, nil),
				errordetails.NewTyped("type.googleapis.com/google.rpc.RequestInfo", map[string]any{"requestId": p.RequestID}),
			}}})
	default:
		writeJSON(w, status, p)
	}
}

// refusalOf returns what the bindings make of a status that is not one of theirs.
func refusalOf(status int) kind {
	switch status {
	case http.StatusUnauthorized:
		return kindFor(a2a.ErrUnauthenticated)
	case http.StatusTooManyRequests:
		k := kindFor(a2a.ErrUnauthenticated)
		k.name = "RESOURCE_EXHAUSTED"
		return k
	case http.StatusForbidden, http.StatusMisdirectedRequest:
		return kindFor(a2a.ErrUnauthorized)
	case http.StatusServiceUnavailable:
		return kindFor(a2a.ErrServerError)
	case http.StatusNotFound:
		k := kindFor(a2a.ErrMethodNotFound)
		k.name = "NOT_FOUND"
		return k
	case http.StatusMethodNotAllowed:
		return kindFor(a2a.ErrMethodNotFound)
	}
	return internal
}

func kindFor(sentinel error) kind {
	k, _ := kindOf(sentinel)
	return k
}

// atJSONRPC reports whether a path is one of the JSON-RPC door.
func atJSONRPC(path string) bool { return path == "/" || path == "/a2a" }

// ofREST reports whether a path is one of the HTTP+JSON bindings, or would be one
// if there were something at it.
func ofREST(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return first == "v1" || first == "agent" || ofRESTv1(first)
}

// ofRESTv1 reports whether a path that begins so is one of 1.0.
func ofRESTv1(segment string) bool {
	return segment == "tasks" || segment == "extendedAgentCard" || strings.HasPrefix(segment, "message:")
}
