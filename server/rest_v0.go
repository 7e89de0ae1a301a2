package server

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2apb/v0/pbjson"
	"github.com/go-chi/chi/v5"

	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
)

// restRoutesV0 mounts the HTTP+JSON binding of 0.3 under /v1, and the card where
// the versions before it had it.
func (s *Server) restRoutesV0(r chi.Router) {
	subscribe := s.restStream(true, wire.FormV0REST(), s.restSubscribe)
	r.Post("/v1/message:send", s.restAnswer(true, s.restSendV0))
	r.Post("/v1/message:stream", s.restStream(true, wire.FormV0REST(), s.restSendStreamV0))
	r.Post("/v1/tasks/{task}:subscribe", subscribe)
	r.Get("/v1/tasks/{task}:subscribe", subscribe)
	r.Get("/v1/tasks", s.restAnswer(true, s.restListV0))
	r.Get("/v1/tasks/{task}", s.restAnswer(true, inV0(s.restGet, pbjson.ToProtoTask)))
	r.Post("/v1/tasks/{task}:cancel", s.restAnswer(true, inV0(s.restCancel, pbjson.ToProtoTask)))
	push := func(f restCall) http.HandlerFunc { return s.restAnswer(true, s.restPush(f)) }
	r.Post("/v1/tasks/{task}/pushNotificationConfigs", push(s.restCreatePushV0))
	r.Get("/v1/tasks/{task}/pushNotificationConfigs", push(inV0(s.restListPush, pushListV0)))
	r.Get("/v1/tasks/{task}/pushNotificationConfigs/{config}", push(inV0(s.restGetPush, pbjson.ToProtoPushConfigResponse)))
	r.Delete("/v1/tasks/{task}/pushNotificationConfigs/{config}", push(s.restDeletePushV0))
	r.Get("/v1/card", s.cardV0)
	r.Get("/agent/authenticatedExtendedCard", s.cardV0)
}

// inV0 answers with what a call of 1.0 returns, in the form that out gives it.
func inV0[T any](f restCall, out func(T) ([]byte, error)) restCall {
	return func(ctx context.Context, r *http.Request, body json.RawMessage) (any, error) {
		result, err := f(ctx, r, body)
		if err != nil {
			return nil, err
		}
		return asV0(result, out)
	}
}

func asV0[T any](result any, out func(T) ([]byte, error)) (any, error) {
	v, ok := result.(T)
	if !ok {
		return nil, fmt.Errorf("a result of the type %T", result)
	}
	raw, err := out(v)
	return json.RawMessage(raw), err
}

func (s *Server) restSendV0(ctx context.Context, _ *http.Request, body json.RawMessage) (any, error) {
	req, err := wire.V0MessageREST(body)
	if err != nil {
		return nil, err
	}
	result, err := s.guard.SendMessage(ctx, req)
	if err != nil {
		return nil, err
	}
	return asV0(result, pbjson.ToProtoSendMessageResult)
}

func (s *Server) restListV0(ctx context.Context, r *http.Request, _ json.RawMessage) (any, error) {
	req, err := wire.V0ListQuery(r.URL.Query())
	if err != nil {
		return nil, err
	}
	list, err := s.guard.ListTasks(ctx, req)
	if err != nil {
		return nil, err
	}
	return asV0(list, pbjson.ToProtoListTasksResponse)
}

func (s *Server) restCreatePushV0(ctx context.Context, r *http.Request, body json.RawMessage) (any, error) {
	req, err := wire.V0PushREST(body, taskOf(r))
	if err != nil {
		return nil, err
	}
	config, err := s.guard.CreateTaskPushConfig(ctx, req)
	if err != nil {
		return nil, err
	}
	return asV0(config, pbjson.ToProtoPushConfigResponse)
}

func pushListV0(list *a2a.ListTaskPushConfigResponse) ([]byte, error) {
	return pbjson.ToProtoListPushConfigsResponse(list.Configs)
}

func (s *Server) restDeletePushV0(ctx context.Context, r *http.Request, body json.RawMessage) (any, error) {
	_, err := s.restDeletePush(ctx, r, body)
	return nil, err
}

func (s *Server) restSendStreamV0(ctx context.Context, r *http.Request, body json.RawMessage) Events {
	req, err := wire.V0MessageREST(body)
	if err != nil {
		return failed(err)
	}
	return s.guard.Stream(ctx, req, lastEventID(r))
}

// cardV0 is the extended card in the form of 0.3: the SDK's leaves out what only
// the card of 1.0 has.
func (s *Server) cardV0(w http.ResponseWriter, r *http.Request) {
	if _, ok := s.restOpen(w, r); !ok {
		return
	}
	ctx := s.withCall(r, true)
	var body json.RawMessage
	card, err := s.guard.GetExtendedAgentCard(ctx, &a2a.GetExtendedAgentCardRequest{})
	if err == nil {
		body, err = unionCard(ctx, card)
	}
	if err = s.guard.public(ctx, "card", err); err != nil {
		s.log.DebugContext(ctx, "extended card refused", slog.Any("err", err))
		writeRESTError(w, r, err)
		return
	}
	writeREST(w, r, http.StatusOK, body)
}
