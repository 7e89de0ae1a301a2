package wire

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/errordetails"
)

// A kind is what the bindings make of one of the SDK's sentinels.
type kind struct {
	err    error
	code   int    // JSON-RPC
	status int    // HTTP
	name   string // google.rpc.Code
}

// kinds is in the order in which an error that wraps two of them is read: what
// the caller can act on stands before what is only said for want of better.
var kinds = []kind{ //nolint:gochecknoglobals // a constant table
	{a2a.ErrTaskNotFound, -32001, http.StatusNotFound, "NOT_FOUND"},
	{a2a.ErrTaskNotCancelable, -32002, http.StatusBadRequest, "FAILED_PRECONDITION"},
	{a2a.ErrPushNotificationNotSupported, -32003, http.StatusBadRequest, "FAILED_PRECONDITION"},
	{a2a.ErrUnsupportedOperation, -32004, http.StatusBadRequest, "FAILED_PRECONDITION"},
	{a2a.ErrUnsupportedContentType, -32005, http.StatusUnsupportedMediaType, "INVALID_ARGUMENT"},
	{a2a.ErrInvalidAgentResponse, -32006, http.StatusInternalServerError, "INTERNAL"},
	{a2a.ErrExtendedCardNotConfigured, -32007, http.StatusBadRequest, "FAILED_PRECONDITION"},
	{a2a.ErrExtensionSupportRequired, -32008, http.StatusBadRequest, "FAILED_PRECONDITION"},
	{a2a.ErrVersionNotSupported, -32009, http.StatusBadRequest, "FAILED_PRECONDITION"},
	{a2a.ErrUnauthenticated, -31401, http.StatusUnauthorized, "UNAUTHENTICATED"},
	{a2a.ErrUnauthorized, -31403, http.StatusForbidden, "PERMISSION_DENIED"},
	{a2a.ErrParseError, -32700, http.StatusBadRequest, "INVALID_ARGUMENT"},
	{a2a.ErrMethodNotFound, -32601, http.StatusNotImplemented, "UNIMPLEMENTED"},
	{a2a.ErrInvalidParams, -32602, http.StatusBadRequest, "INVALID_ARGUMENT"},
	{a2a.ErrInvalidRequest, -32600, http.StatusBadRequest, "INVALID_ARGUMENT"},
	{a2a.ErrServerError, -32000, http.StatusServiceUnavailable, "UNAVAILABLE"},
	internal,
}

var internal = kind{a2a.ErrInternalError, -32603, http.StatusInternalServerError, "INTERNAL"} //nolint:gochecknoglobals // a constant

// kindOf returns what err counts as, and whether it wraps a sentinel at all.
func kindOf(err error) (kind, bool) {
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			return k, true
		}
	}
	return internal, false
}

// Sentinel returns the one of the SDK's sentinels that err counts as; nil if it wraps none.
func Sentinel(err error) error {
	if k, ok := kindOf(err); ok {
		return k.err
	}
	return nil
}

// Code returns the code that err has over JSON-RPC.
func Code(err error) int {
	k, _ := kindOf(err)
	return k.code
}

// An rpcError is the error member of a JSON-RPC response. Data is an array of
// typed details in 1.0. In 0.3 there is none: some clients of it read an object
// there and some an array, and fail over the other.
type rpcError struct {
	Code    int                   `json:"code"`
	Message string                `json:"message"`
	Data    []*errordetails.Typed `json:"data,omitempty"`
}

// toRPC writes an error that may be shown.
func toRPC(err error, v0 bool) *rpcError {
	k, _ := kindOf(err)
	e := &rpcError{Code: k.code, Message: err.Error()}
	if !v0 {
		e.Data = details(k, err)
	}
	return e
}

// A RESTError is the body of a failed HTTP+JSON call, by AIP-193.
type RESTError struct {
	Error restStatus `json:"error"`
}

type restStatus struct {
	Code    int                   `json:"code"`
	Status  string                `json:"status"`
	Message string                `json:"message"`
	Details []*errordetails.Typed `json:"details,omitempty"`
}

// ToREST writes an error that may be shown.
func ToREST(err error) RESTError {
	k, _ := kindOf(err)
	return RESTError{restStatus{Code: k.status, Status: k.name, Message: err.Error(), Details: details(k, err)}}
}

// details are the typed details of err, with the ErrorInfo that the
// specification asks of every A2A error at the end.
func details(k kind, err error) []*errordetails.Typed {
	var out []*errordetails.Typed
	var meta map[string]string
	if ae, ok := errors.AsType[*a2a.Error](err); ok {
		if len(ae.Details) > 0 {
			out = append(out, errordetails.NewFromStruct(ae.Details))
		}
		meta = metadata(ae)
		for _, d := range ae.TypedDetails {
			if d.TypeURL != errordetails.ErrorInfoType {
				out = append(out, d)
			}
		}
	}
	return append(out, errordetails.NewErrorInfo(a2a.ErrorReason(k.err), a2a.ProtocolDomain, meta))
}

// metadata is that of the error's ErrorInfo.
func metadata(e *a2a.Error) map[string]string {
	for _, d := range e.TypedDetails {
		if m, ok := d.Value["metadata"].(map[string]string); ok && d.TypeURL == errordetails.ErrorInfoType {
			return m
		}
	}
	return nil
}

// InvalidParams is an error with a text for the caller.
func InvalidParams(format string, args ...any) error {
	return a2a.NewError(a2a.ErrInvalidParams, fmt.Sprintf(format, args...))
}

// InvalidRequest is an error with a text for the caller.
func InvalidRequest(format string, args ...any) error {
	return a2a.NewError(a2a.ErrInvalidRequest, fmt.Sprintf(format, args...))
}

// Quote quotes text of a caller's, cut to what an error has room for.
func Quote(text string) string {
	const room = 64
	if len(text) > room {
		return strconv.Quote(text[:room]) + "…"
	}
	return strconv.Quote(text)
}

// RefusalREST is what a request is refused with that no binding has looked at.
func RefusalREST(status int, text, requestID string) RESTError {
	k := refusalOf(status)
	return RESTError{restStatus{
		Code: status, Status: k.name, Message: text, Details: []*errordetails.Typed{
			errordetails.NewErrorInfo(a2a.ErrorReason(k.err), a2a.ProtocolDomain, nil),
			errordetails.NewTyped("type.googleapis.com/google.rpc.RequestInfo", map[string]any{"requestId": requestID}),
		}}}
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
