package binding

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/go-chi/chi/v5"

	"github.com/Molecule-AI/molecule-codex-runtime/server/bounds"
	"github.com/Molecule-AI/molecule-codex-runtime/server/guard"
	"github.com/Molecule-AI/molecule-codex-runtime/server/respond"
	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
)

// A restCall makes the answer to a request of the 1.0 HTTP+JSON binding.
type restCall func(ctx context.Context, r *http.Request, body json.RawMessage) (any, error)

// restRoutes mounts the HTTP+JSON binding of 1.0 at the paths of the specification.
func (b *Bindings) restRoutes(r chi.Router) {
	r.Post("/message:send", b.restUnary(b.restSend))
	r.Post("/message:stream", b.restStream(false, wire.FormV1(), b.restSendStream))
	subscribe := b.restStream(false, wire.FormV1(), b.restSubscribe)
	r.Post("/tasks/{task}:subscribe", subscribe)
	r.Get("/tasks/{task}:subscribe", subscribe)
	r.Get("/tasks", b.restUnary(b.restList))
	r.Get("/tasks/{task}", b.restUnary(b.restGet))
	r.Post("/tasks/{task}:cancel", b.restUnary(b.restCancel))
	r.Post("/tasks/{task}/pushNotificationConfigs", b.restUnary(b.restPush(b.restCreatePush)))
	r.Get("/tasks/{task}/pushNotificationConfigs", b.restUnary(b.restPush(b.restListPush)))
	r.Get("/tasks/{task}/pushNotificationConfigs/{config}", b.restUnary(b.restPush(b.restGetPush)))
	r.Delete("/tasks/{task}/pushNotificationConfigs/{config}", b.restUnary(b.restPush(b.restDeletePush)))
	r.Get("/extendedAgentCard", b.restUnary(func(ctx context.Context, _ *http.Request, _ json.RawMessage) (any, error) {
		return b.guard.GetExtendedAgentCard(ctx, &a2a.GetExtendedAgentCardRequest{})
	}))
}

func (b *Bindings) restUnary(f restCall) http.HandlerFunc { return b.restAnswer(false, f) }

// restAnswer serves what f returns, of either version. Nothing is 204.
func (b *Bindings) restAnswer(v0 bool, f restCall) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, ok := b.restOpen(w, r)
		if !ok {
			return
		}
		answer, err := b.restDo(b.call(r, v0), f, r, body)
		switch {
		case err != nil:
			respond.RESTError(w, r, err)
		case answer == nil:
			w.WriteHeader(http.StatusNoContent)
		default:
			w.Header().Add("Vary", "Accept")
			respond.Body(w, wire.AnswerMedia(r.Header.Values("Accept")), http.StatusOK, answer)
		}
	}
}

// restDo calls f and returns the whole answer. What panics here is the conversion
// of the result.
func (b *Bindings) restDo(ctx context.Context, f restCall, r *http.Request, body json.RawMessage) (answer []byte, err error) {
	defer b.guard.Rescue(ctx, "rest", &err)
	result, err := f(ctx, r, orEmpty(body))
	if err == nil && result != nil {
		answer, err = bounds.AnsweringOf(ctx).Make(ctx, 0, func() ([]byte, error) { return wire.Encode(result) })
	}
	return answer, b.guard.Public(ctx, "rest", err)
}

// restStream serves what f yields, of either version.
func (b *Bindings) restStream(v0 bool, of wire.Form, f func(ctx context.Context, r *http.Request, body json.RawMessage) guard.Events) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, ok := b.restOpen(w, r)
		if !ok {
			return
		}
		ctx := b.call(r, v0)
		b.serveStream(w, r.WithContext(ctx), func() guard.Events { return f(ctx, r, orEmpty(body)) }, restFraming(r, of))
	}
}

func (b *Bindings) restSend(ctx context.Context, _ *http.Request, body json.RawMessage) (any, error) {
	req, err := wire.V1MessageREST(body)
	if err != nil {
		return nil, err
	}
	result, err := b.guard.SendMessage(ctx, req)
	return a2a.StreamResponse{Event: result}, err
}

func (b *Bindings) restSendStream(ctx context.Context, r *http.Request, body json.RawMessage) guard.Events {
	req, err := wire.V1MessageREST(body)
	if err != nil {
		return guard.Failed(err)
	}
	return b.guard.Stream(ctx, req, lastEventID(r))
}

func (b *Bindings) restSubscribe(ctx context.Context, r *http.Request, _ json.RawMessage) guard.Events {
	return b.guard.Resume(ctx, &a2a.SubscribeToTaskRequest{ID: taskOf(r)}, lastEventID(r))
}

func (b *Bindings) restGet(ctx context.Context, r *http.Request, _ json.RawMessage) (any, error) {
	history, err := wire.HistoryQuery(r.URL.Query())
	if err != nil {
		return nil, err
	}
	return b.guard.GetTask(ctx, &a2a.GetTaskRequest{ID: taskOf(r), HistoryLength: history})
}

func (b *Bindings) restCancel(ctx context.Context, r *http.Request, body json.RawMessage) (any, error) {
	req, err := wire.V1Params[a2a.CancelTaskRequest](body) // it may have metadata
	if err != nil {
		return nil, err
	}
	req.ID = taskOf(r)
	return b.guard.CancelTask(ctx, req)
}

// restPush refuses what f is for unless the card promises it.
func (b *Bindings) restPush(f restCall) restCall {
	return func(ctx context.Context, r *http.Request, body json.RawMessage) (any, error) {
		if err := b.guard.CheckPush(); err != nil {
			return nil, err
		}
		return f(ctx, r, body)
	}
}

func (b *Bindings) restCreatePush(ctx context.Context, r *http.Request, body json.RawMessage) (any, error) {
	req, err := wire.V1Params[a2a.PushConfig](body)
	if err != nil {
		return nil, err
	}
	req.TaskID = taskOf(r)
	return b.guard.CreateTaskPushConfig(ctx, req)
}

func (b *Bindings) restListPush(ctx context.Context, r *http.Request, _ json.RawMessage) (any, error) {
	return b.guard.ListTaskPushConfigs(ctx, &a2a.ListTaskPushConfigRequest{TaskID: taskOf(r)})
}

func (b *Bindings) restGetPush(ctx context.Context, r *http.Request, _ json.RawMessage) (any, error) {
	return b.guard.GetTaskPushConfig(ctx, &a2a.GetTaskPushConfigRequest{TaskID: taskOf(r), ID: pathParam(r, "config")})
}

func (b *Bindings) restDeletePush(ctx context.Context, r *http.Request, _ json.RawMessage) (any, error) {
	return struct{}{}, b.guard.DeleteTaskPushConfig(ctx, &a2a.DeleteTaskPushConfigRequest{TaskID: taskOf(r), ID: pathParam(r, "config")})
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

func (b *Bindings) restList(ctx context.Context, r *http.Request, _ json.RawMessage) (any, error) {
	req, err := wire.ListQuery(r.URL.Query())
	if err != nil {
		return nil, err
	}
	return b.guard.ListTasks(ctx, req)
}
