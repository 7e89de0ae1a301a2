package binding

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2apb/v0/pbjson"
	"github.com/go-chi/chi/v5"

	"github.com/Molecule-AI/molecule-codex-runtime/server/guard"
	"github.com/Molecule-AI/molecule-codex-runtime/server/respond"
	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
)

// restRoutesV0 mounts the HTTP+JSON binding of 0.3 under /v1, and the card where
// the versions before it had it.
func (b *Bindings) restRoutesV0(r chi.Router) {
	subscribe := b.restStream(true, wire.FormV0REST(), b.restSubscribe)
	r.Post("/v1/message:send", b.restAnswer(true, b.restSendV0))
	r.Post("/v1/message:stream", b.restStream(true, wire.FormV0REST(), b.restSendStreamV0))
	r.Post("/v1/tasks/{task}:subscribe", subscribe)
	r.Get("/v1/tasks/{task}:subscribe", subscribe)
	r.Get("/v1/tasks", b.restAnswer(true, b.restListV0))
	r.Get("/v1/tasks/{task}", b.restAnswer(true, inV0(b.restGet, pbjson.ToProtoTask)))
	r.Post("/v1/tasks/{task}:cancel", b.restAnswer(true, inV0(b.restCancel, pbjson.ToProtoTask)))
	push := func(f restCall) http.HandlerFunc { return b.restAnswer(true, b.restPush(f)) }
	r.Post("/v1/tasks/{task}/pushNotificationConfigs", push(b.restCreatePushV0))
	r.Get("/v1/tasks/{task}/pushNotificationConfigs", push(inV0(b.restListPush, pushListV0)))
	r.Get("/v1/tasks/{task}/pushNotificationConfigs/{config}", push(inV0(b.restGetPush, pbjson.ToProtoPushConfigResponse)))
	r.Delete("/v1/tasks/{task}/pushNotificationConfigs/{config}", push(b.restDeletePushV0))
	r.Get("/v1/card", b.cardV0)
	r.Get("/agent/authenticatedExtendedCard", b.cardV0)
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

func (b *Bindings) restSendV0(ctx context.Context, _ *http.Request, body json.RawMessage) (any, error) {
	req, err := wire.V0MessageREST(body)
	if err != nil {
		return nil, err
	}
	result, err := b.guard.SendMessage(ctx, req)
	if err != nil {
		return nil, err
	}
	return asV0(result, pbjson.ToProtoSendMessageResult)
}

func (b *Bindings) restListV0(ctx context.Context, r *http.Request, _ json.RawMessage) (any, error) {
	req, err := wire.V0ListQuery(r.URL.Query())
	if err != nil {
		return nil, err
	}
	list, err := b.guard.ListTasks(ctx, req)
	if err != nil {
		return nil, err
	}
	return asV0(list, pbjson.ToProtoListTasksResponse)
}

func (b *Bindings) restCreatePushV0(ctx context.Context, r *http.Request, body json.RawMessage) (any, error) {
	req, err := wire.V0PushREST(body, taskOf(r))
	if err != nil {
		return nil, err
	}
	config, err := b.guard.CreateTaskPushConfig(ctx, req)
	if err != nil {
		return nil, err
	}
	return asV0(config, pbjson.ToProtoPushConfigResponse)
}

func pushListV0(list *a2a.ListTaskPushConfigResponse) ([]byte, error) {
	return pbjson.ToProtoListPushConfigsResponse(list.Configs)
}

func (b *Bindings) restDeletePushV0(ctx context.Context, r *http.Request, body json.RawMessage) (any, error) {
	_, err := b.restDeletePush(ctx, r, body)
	return nil, err
}

func (b *Bindings) restSendStreamV0(ctx context.Context, r *http.Request, body json.RawMessage) guard.Events {
	req, err := wire.V0MessageREST(body)
	if err != nil {
		return guard.Failed(err)
	}
	return b.guard.Stream(ctx, req, lastEventID(r))
}

// cardV0 is the extended card in the form of 0.3: the SDK's leaves out what only
// the card of 1.0 has.
func (b *Bindings) cardV0(w http.ResponseWriter, r *http.Request) {
	if _, ok := b.restOpen(w, r); !ok {
		return
	}
	ctx := b.call(r, true)
	var body json.RawMessage
	card, err := b.guard.GetExtendedAgentCard(ctx, &a2a.GetExtendedAgentCardRequest{})
	if err == nil {
		body, err = UnionCard(ctx, card)
	}
	if err = b.guard.Public(ctx, "card", err); err != nil {
		b.log.DebugContext(ctx, "extended card refused", slog.Any("err", err))
		respond.RESTError(w, r, err)
		return
	}
	respond.REST(w, r, http.StatusOK, body)
}
