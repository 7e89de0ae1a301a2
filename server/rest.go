package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	a2alog "github.com/a2aproject/a2a-go/v2/log"
)

// transportOptions are those of the SDK's HTTP+JSON transport. Panics of the
// handler end in [guard]; what is left are those of the SDK's conversions.
func (s *Server) transportOptions() []a2asrv.TransportOption {
	return []a2asrv.TransportOption{
		a2asrv.WithTransportKeepAlive(s.cfg.KeepAlive),
		a2asrv.WithTransportPanicHandler(func(v any) error {
			s.log.Error("transport panicked", slog.Any("panic", v))
			return a2a.NewError(a2a.ErrInternalError, "internal error")
		}),
	}
}

// restV0 puts our checks in front of the SDK's HTTP+JSON transport for 0.3.
func (s *Server) restV0(transport http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, ok := s.restOpen(w, r)
		if !ok {
			return
		}
		if err := s.checkRESTv0(r, body); err != nil {
			writeRESTError(w, r, err)
			return
		}
		var failure error
		ctx := s.withCall(r, true)
		c := callOf(ctx)
		c.failure = &failure
		// The SDK logs answers that nobody takes any more as errors.
		ctx = a2alog.AttachLogger(context.WithValue(ctx, keyCall, c), slog.New(slog.DiscardHandler))
		inner := r.WithContext(ctx)
		inner.Body = io.NopCloser(bytes.NewReader(body))
		transport.ServeHTTP(&ownErrors{ResponseWriter: w, request: r, failure: &failure}, inner)
	}
}

// ownErrors answers with our form of an error in the place of the 0.3
// transport's, which does not know 503 and calls problem+json what is not by that
// standard. Errors that the transport makes itself only lose that name.
type ownErrors struct {
	http.ResponseWriter
	request  *http.Request
	failure  *error
	answered bool
}

func (w *ownErrors) WriteHeader(status int) {
	if w.Header().Get("Content-Type") == "application/problem+json" {
		w.Header().Set("Content-Type", "application/json")
	}
	if status >= http.StatusBadRequest && *w.failure != nil {
		w.answered = true
		writeRESTError(w.ResponseWriter, w.request, *w.failure)
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *ownErrors) Write(p []byte) (int, error) {
	if w.answered {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// Flush implements [http.Flusher], which the SDK asks for.
func (w *ownErrors) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

// Unwrap lets [http.ResponseController] reach the connection.
func (w *ownErrors) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// restOpen checks version, content type and body, and returns the body. If it
// returns false, it has answered.
func (s *Server) restOpen(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	if err := checkVersion(r); err != nil {
		writeRESTError(w, r, err)
		return nil, false
	}
	if r.Method != http.MethodPost {
		return nil, true
	}
	body, err := s.readBody(w, r)
	if be, ok := errors.AsType[*bodyError](err); ok {
		e := toREST(invalidRequest("%s", be.text))
		e.Error.Code = be.status
		writeREST(w, r, be.status, e)
		return nil, false
	}
	if len(body) == 0 {
		return nil, true // cancel and subscribe have none
	}
	if err := checkContentType(r); err != nil {
		writeRESTError(w, r, err)
		return nil, false
	}
	if !json.Valid(body) {
		writeRESTError(w, r, a2a.NewError(a2a.ErrParseError, "the body is not well-formed JSON"))
		return nil, false
	}
	return body, true
}

// a2aJSON is the media type that the HTTP+JSON binding has of its own. Clients
// older than it want plain JSON, so whoever names it gets it.
const a2aJSON = "application/a2a+json"

func restMedia(r *http.Request) string {
	for _, accepted := range r.Header.Values("Accept") {
		if strings.Contains(accepted, a2aJSON) {
			return a2aJSON
		}
	}
	return "application/json"
}

func writeREST(w http.ResponseWriter, r *http.Request, status int, v any) {
	w.Header().Add("Vary", "Accept")
	writeAs(w, restMedia(r), status, v)
}

func writeRESTError(w http.ResponseWriter, r *http.Request, err error) {
	e := toREST(err)
	if e.Error.Code == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", retryAfter)
	}
	writeREST(w, r, e.Error.Code, e)
}
