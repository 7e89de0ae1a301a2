package respond

import (
	"context"
	"net/http"
	"strconv"

	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
)

// JSON answers with v. The body is made before the status is written, so
// that a value that cannot be encoded is a clean 500. Results of calls are not
// written by it: they are encoded where an error still has an envelope, and a log.
func JSON(w http.ResponseWriter, status int, v any) {
	writeAs(w, wire.JSON, status, v)
}

func writeAs(w http.ResponseWriter, media string, status int, v any) {
	body, err := wire.Encode(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":"internal error"}`+"\n")
	}
	Body(w, media, status, body)
}

// Body answers with a body that is made already.
func Body(w http.ResponseWriter, media string, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", media)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // an error: the reader is gone
}

type requestIDKey struct{}

// WithRequestID has the log, and answers, speak of a request under that id.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// RequestID returns the id under which the log speaks of the request.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// REST answers in the media type of HTTP+JSON that the caller accepts.
func REST(w http.ResponseWriter, r *http.Request, status int, v any) {
	w.Header().Add("Vary", "Accept")
	writeAs(w, wire.AnswerMedia(r.Header.Values("Accept")), status, v)
}

// RESTError answers with an error that may be shown.
func RESTError(w http.ResponseWriter, r *http.Request, err error) {
	e := wire.ToREST(err)
	if e.Error.Code == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", RetryAfter)
	}
	REST(w, r, e.Error.Code, e)
}
