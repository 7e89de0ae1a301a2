package server

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/go-chi/chi/v5"

	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
)

// A restCall makes the answer to a request of the 1.0 HTTP+JSON binding.
type restCall func(ctx context.Context, r *http.Request, body json.RawMessage) (any, error)

// restRoutes mounts the HTTP+JSON binding of 1.0 at the paths of the specification.
func (s *Server) restRoutes(r chi.Router) {
	r.Post("/message:send", s.restUnary(s.restSend))
	r.Post("/message:stream", s.restStream(false, wire.FormV1(), s.restSendStream))
	subscribe := s.restStream(false, wire.FormV1(), s.restSubscribe)
	r.Post("/tasks/{task}:subscribe", subscribe)
	r.Get("/tasks/{task}:subscribe", subscribe)
	r.Get("/tasks", s.restUnary(s.restList))
	r.Get("/tasks/{task}", s.restUnary(s.restGet))
	r.Post("/tasks/{task}:cancel", s.restUnary(s.restCancel))
	r.Post("/tasks/{task}/pushNotificationConfigs", s.restUnary(s.restPush(s.restCreatePush)))
	r.Get("/tasks/{task}/pushNotificationConfigs", s.restUnary(s.restPush(s.restListPush)))
	r.Get("/tasks/{task}/pushNotificationConfigs/{config}", s.restUnary(s.restPush(s.restGetPush)))
	r.Delete("/tasks/{task}/pushNotificationConfigs/{config}", s.restUnary(s.restPush(s.restDeletePush)))
	r.Get("/extendedAgentCard", s.restUnary(func(ctx context.Context, _ *http.Request, _ json.RawMessage) (any, error) {
		return s.guard.GetExtendedAgentCard(ctx, &a2a.GetExtendedAgentCardRequest{})
	}))
}

func (s *Server) restUnary(f restCall) http.HandlerFunc { return s.restAnswer(false, f) }

// restAnswer serves what f returns, of either version. Nothing is 204.
func (s *Server) restAnswer(v0 bool, f restCall) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, ok := s.restOpen(w, r)
		if !ok {
			return
		}
		answer, err := s.restDo(s.withCall(r, v0), f, r, body)
		switch {
		case err != nil:
			writeRESTError(w, r, err)
		case answer == nil:
			w.WriteHeader(http.StatusNoContent)
		default:
			w.Header().Add("Vary", "Accept")
			writeBody(w, wire.AnswerMedia(r.Header.Values("Accept")), http.StatusOK, answer)
		}
	}
}

// restDo calls f and returns the whole answer. What panics here is the conversion
// of the result.
func (s *Server) restDo(ctx context.Context, f restCall, r *http.Request, body json.RawMessage) (answer []byte, err error) {
	defer s.guard.rescue(ctx, "rest", &err)
	result, err := f(ctx, r, orEmpty(body))
	if err == nil && result != nil {
		answer, err = answeringOf(ctx).make(ctx, 0, func() ([]byte, error) { return wire.Encode(result) })
	}
	return answer, s.guard.public(ctx, "rest", err)
}

// restStream serves what f yields, of either version.
func (s *Server) restStream(v0 bool, of wire.Form, f func(ctx context.Context, r *http.Request, body json.RawMessage) Events) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, ok := s.restOpen(w, r)
		if !ok {
			return
		}
		ctx := s.withCall(r, v0)
		s.serveStream(w, r.WithContext(ctx), func() Events { return f(ctx, r, orEmpty(body)) }, restFraming(r, of))
	}
}

func (s *Server) restSend(ctx context.Context, _ *http.Request, body json.RawMessage) (any, error) {
	req, err := wire.V1MessageREST(body)
	if err != nil {
		return nil, err
	}
	result, err := s.guard.SendMessage(ctx, req)
	return a2a.StreamResponse{Event: result}, err
}

func (s *Server) restSendStream(ctx context.Context, r *http.Request, body json.RawMessage) Events {
	req, err := wire.V1MessageREST(body)
	if err != nil {
		return failed(err)
	}
	return s.guard.Stream(ctx, req, lastEventID(r))
}

func (s *Server) restSubscribe(ctx context.Context, r *http.Request, _ json.RawMessage) Events {
	return s.guard.Resume(ctx, &a2a.SubscribeToTaskRequest{ID: taskOf(r)}, lastEventID(r))
}

func (s *Server) restGet(ctx context.Context, r *http.Request, _ json.RawMessage) (any, error) {
	history, err := wire.HistoryQuery(r.URL.Query())
	if err != nil {
		return nil, err
	}
	return s.guard.GetTask(ctx, &a2a.GetTaskRequest{ID: taskOf(r), HistoryLength: history})
}

func (s *Server) restCancel(ctx context.Context, r *http.Request, body json.RawMessage) (any, error) {
	req, err := wire.V1Params[a2a.CancelTaskRequest](body) // it may have metadata
	if err != nil {
		return nil, err
	}
	req.ID = taskOf(r)
	return s.guard.CancelTask(ctx, req)
}

// restPush refuses what f is for unless the card promises it.
func (s *Server) restPush(f restCall) restCall {
	return func(ctx context.Context, r *http.Request, body json.RawMessage) (any, error) {
		if err := s.guard.checkPush(); err != nil {
			return nil, err
		}
		return f(ctx, r, body)
	}
}

func (s *Server) restCreatePush(ctx context.Context, r *http.Request, body json.RawMessage) (any, error) {
	req, err := wire.V1Params[a2a.PushConfig](body)
	if err != nil {
		return nil, err
	}
	req.TaskID = taskOf(r)
	return s.guard.CreateTaskPushConfig(ctx, req)
}

func (s *Server) restListPush(ctx context.Context, r *http.Request, _ json.RawMessage) (any, error) {
	return s.guard.ListTaskPushConfigs(ctx, &a2a.ListTaskPushConfigRequest{TaskID: taskOf(r)})
}

func (s *Server) restGetPush(ctx context.Context, r *http.Request, _ json.RawMessage) (any, error) {
	return s.guard.GetTaskPushConfig(ctx, &a2a.GetTaskPushConfigRequest{TaskID: taskOf(r), ID: pathParam(r, "config")})
}

func (s *Server) restDeletePush(ctx context.Context, r *http.Request, _ json.RawMessage) (any, error) {
	return struct{}{}, s.guard.DeleteTaskPushConfig(ctx, &a2a.DeleteTaskPushConfigRequest{TaskID: taskOf(r), ID: pathParam(r, "config")})
}

func taskOf(r *http.Request) a2a.TaskID { return a2a.TaskID(strings.TrimSpace(pathParam(r, "task"))) }

// pathParam returns a parameter of the path. The router matches the path as it
// was written, if that is not how Go would write it.
func pathParam(r *http.Request, name string) string {
	raw := chi.URLParam(r, name)
	if r.URL.RawPath == "" {
		return raw
	}
	if plain, err := url.PathUnescape(raw); err == nil {
		return plain
	}
	return raw
}

func orEmpty(body []byte) json.RawMessage {
	if len(bytes.TrimSpace(body)) == 0 {
		return json.RawMessage("{}")
	}
	return body
}

func (s *Server) restList(ctx context.Context, r *http.Request, _ json.RawMessage) (any, error) {
	req, err := wire.ListQuery(r.URL.Query())
	if err != nil {
		return nil, err
	}
	return s.guard.ListTasks(ctx, req)
}
