package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	a2alog "github.com/a2aproject/a2a-go/v2/log"
	"github.com/go-chi/chi/v5"
)

// transportOptions are those of the SDK's HTTP+JSON transports. Panics of the
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

// rest puts our checks in front of one of the SDK's HTTP+JSON transports.
func (s *Server) rest(transport http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, ok := s.restOpen(w, r)
		if !ok {
			return
		}
		// The SDK logs answers that nobody takes any more as errors.
		ctx := a2alog.AttachLogger(r.Context(), slog.New(slog.DiscardHandler))
		r = r.WithContext(ctx)
		r.Body = io.NopCloser(bytes.NewReader(body))
		transport.ServeHTTP(plainJSON{w}, r)
	}
}

// plainJSON names JSON what the 0.3 transport calls problem+json: it is not by
// that standard, and the SDK's own client does not read it under that name.
type plainJSON struct{ http.ResponseWriter }

func (w plainJSON) WriteHeader(status int) {
	if w.Header().Get("Content-Type") == "application/problem+json" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.ResponseWriter.WriteHeader(status)
}

// Flush implements [http.Flusher], which the SDK asks for.
func (w plainJSON) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

// Unwrap lets [http.ResponseController] reach the connection.
func (w plainJSON) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// restOpen checks version, content type and body, and returns the body with
// the field names of the specification. If it returns false, it has answered.
func (s *Server) restOpen(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	if err := checkVersion(r); err != nil {
		writeRESTError(w, err)
		return nil, false
	}
	if r.Method != http.MethodPost {
		return nil, true
	}
	body, err := s.readBody(w, r)
	if be, ok := errors.AsType[*bodyError](err); ok {
		e := toREST(invalidRequest("%s", be.text))
		e.Error.Code = be.status
		writeJSON(w, be.status, e)
		return nil, false
	}
	if len(body) == 0 {
		return nil, true // cancel and subscribe have none
	}
	if err := checkContentType(r); err != nil {
		writeRESTError(w, err)
		return nil, false
	}
	if !json.Valid(body) {
		writeRESTError(w, a2a.NewError(a2a.ErrParseError, "the body is not well-formed JSON"))
		return nil, false
	}
	return body, true
}

func writeRESTError(w http.ResponseWriter, err error) {
	e := toREST(err)
	writeJSON(w, e.Error.Code, e)
}

// restFraming is the SSE of the 1.0 HTTP+JSON binding.
type restFraming struct{}

func (restFraming) early() bool                             { return false }
func (restFraming) event(e a2a.Event) (any, error)          { return a2a.StreamResponse{Event: e}, nil }
func (restFraming) failure(err error) any                   { return toREST(err) }
func (restFraming) refuse(w http.ResponseWriter, err error) { writeRESTError(w, err) }

// restSend is ours too, so that what is wrong with a message is said alike in
// every binding.
func (s *Server) restSend(w http.ResponseWriter, r *http.Request) {
	body, ok := s.restOpen(w, r)
	if !ok {
		return
	}
	req, err := decode[a2a.SendMessageRequest](v1Message, orEmpty(body))
	if err != nil {
		writeRESTError(w, err)
		return
	}
	ctx, _ := a2asrv.NewCallContext(r.Context(), a2asrv.NewServiceParams(r.Header))
	result, err := s.guard.SendMessage(ctx, req)
	if err != nil {
		writeRESTError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, a2a.StreamResponse{Event: result})
}

func (s *Server) restSendStream(w http.ResponseWriter, r *http.Request) {
	body, ok := s.restOpen(w, r)
	if !ok {
		return
	}
	req, err := decode[a2a.SendMessageRequest](v1Message, orEmpty(body))
	if err != nil {
		writeRESTError(w, err)
		return
	}
	ctx, _ := a2asrv.NewCallContext(r.Context(), a2asrv.NewServiceParams(r.Header))
	s.serveStream(w, r.WithContext(ctx), s.guard.SendStreamingMessage(ctx, req), restFraming{})
}

func (s *Server) restSubscribe(w http.ResponseWriter, r *http.Request) {
	if _, ok := s.restOpen(w, r); !ok {
		return
	}
	ctx, _ := a2asrv.NewCallContext(r.Context(), a2asrv.NewServiceParams(r.Header))
	req := &a2a.SubscribeToTaskRequest{ID: a2a.TaskID(strings.TrimSpace(chi.URLParam(r, "task")))}
	s.serveStream(w, r.WithContext(ctx), s.guard.SubscribeToTask(ctx, req), restFraming{})
}

func orEmpty(body []byte) []byte {
	if len(body) == 0 {
		return []byte("{}")
	}
	return body
}
