package server

import (
	"context"
	"encoding/json"
	"errors"

	legacy "github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
)

// v0Methods are the methods of A2A 0.3. reply, if not nil, makes the answer of
// a blocking message/send of its task; with fill, messages may lack what
// [v0Message] fills in.
func v0Methods(g *guard, reply func(*a2a.Task) *a2a.Message, fill bool) map[string]method {
	params := v0Params(fill)
	stream := v0Streaming(params, v0Request, g.Stream)
	stream.check = params.check
	return map[string]method{
		"message/send":   {unary: v0Send(g, params, reply), check: params.check},
		"message/stream": stream,
		"tasks/resubscribe": following(v0Streaming(asIs, func(p *legacy.TaskIDParams) (*a2a.SubscribeToTaskRequest, error) {
			return a2av0.ToV1SubscribeToTaskRequest(p), nil
		}, g.Resume)),
		"tasks/get":                        {unary: v0Call(a2av0.ToV1GetTaskRequest, g.GetTask, v0Task)},
		"tasks/cancel":                     {unary: v0Call(a2av0.ToV1CancelTaskRequest, g.CancelTask, v0Task)},
		"tasks/pushNotificationConfig/set": {push: true, unary: v0Call(a2av0.ToV1PushConfig, g.CreateTaskPushConfig, a2av0.FromV1PushConfig)},
		"tasks/pushNotificationConfig/get": {push: true, unary: v0Call(a2av0.ToV1GetTaskPushConfigRequest, g.GetTaskPushConfig, a2av0.FromV1PushConfig)},
		"tasks/pushNotificationConfig/list": {push: true, unary: v0Call(a2av0.ToV1ListTaskPushConfigRequest, g.ListTaskPushConfigs,
			func(l *a2a.ListTaskPushConfigResponse) []*legacy.TaskPushConfig {
				return append([]*legacy.TaskPushConfig{}, a2av0.FromV1PushConfigs(l.Configs)...) // [] and not null
			})},
		"tasks/pushNotificationConfig/delete": {push: true, unary: v0Call(a2av0.ToV1DeleteTaskPushConfigRequest,
			func(ctx context.Context, req *a2a.DeleteTaskPushConfigRequest) (struct{}, error) {
				return struct{}{}, g.DeleteTaskPushConfig(ctx, req)
			}, func(struct{}) json.RawMessage { return null })},
		"agent/getAuthenticatedExtendedCard": {unary: unary(asIs,
			func(ctx context.Context, req *a2a.GetExtendedAgentCardRequest) (json.RawMessage, error) {
				card, err := g.GetExtendedAgentCard(ctx, req)
				if err != nil {
					return nil, err
				}
				return unionCard(ctx, card)
			})},
	}
}

// v0Call makes a unary method of f with the conversions around it.
func v0Call[P, Req, Res, Out any](in func(*P) *Req, f func(context.Context, *Req) (Res, error), out func(Res) Out) func(context.Context, json.RawMessage) (any, error) {
	return unary(asIs, func(ctx context.Context, p *P) (any, error) {
		result, err := f(ctx, in(p))
		if err != nil {
			return nil, err
		}
		return out(result), nil
	})
}

func v0Params(fill bool) decoder[legacy.MessageSendParams] {
	return func(raw json.RawMessage) (*legacy.MessageSendParams, error) {
		raw, err := v0Message(raw, fill)
		if err != nil {
			return nil, err
		}
		return asIs[legacy.MessageSendParams](raw)
	}
}

func v0Request(p *legacy.MessageSendParams) (*a2a.SendMessageRequest, error) {
	req, err := a2av0.ToV1SendMessageRequest(p)
	if err != nil {
		return nil, paramsError(err)
	}
	mediaFromV0(req.Message)
	return req, nil
}

func v0Task(t *a2a.Task) *legacy.Task {
	out, _ := mediaToV0(t).(*a2a.Task)
	return a2av0.FromV1Task(out)
}

// TaskV0 renders a task as A2A 0.3 has it.
func TaskV0(t *a2a.Task) ([]byte, error) { return marshal(v0Task(t)) }

func v0Event(e a2a.Event) (any, error) { return a2av0.FromV1Event(mediaToV0(e)) }

func v0Streaming[P, Req any](decode decoder[P], in func(*P) (*Req, error), f func(context.Context, *Req, string) Events) method {
	return method{
		form: formV0(),
		stream: func(ctx context.Context, raw json.RawMessage, after string) Events {
			p, err := decode(raw)
			if err != nil {
				return failed(err)
			}
			req, err := in(p)
			if err != nil {
				return failed(err)
			}
			return f(ctx, req, after)
		},
	}
}

// following is a stream that goes on behind a question.
func following(m method) method {
	m.form = formV0Following()
	return m
}

func contextOf(m *a2a.Message) string {
	if m == nil {
		return ""
	}
	return m.ContextID
}

// v0Send is message/send. Blocking is the default of 0.3.
func v0Send(g *guard, params decoder[legacy.MessageSendParams], reply func(*a2a.Task) *a2a.Message) func(context.Context, json.RawMessage) (any, error) {
	return unary(params, func(ctx context.Context, p *legacy.MessageSendParams) (any, error) {
		req, err := v0Request(p)
		if err != nil {
			return nil, err
		}
		asMessage := reply != nil && (req.Config == nil || !req.Config.ReturnImmediately)
		contextID := contextOf(req.Message) // the rest of the message is not kept while its sender waits
		result, err := g.SendMessage(ctx, req)
		if err != nil {
			if cut, ok := errors.AsType[cutOffError](err); ok && asMessage {
				cut.silent = true
				return nil, cut
			}
			if m := replyToFault(ctx, contextID, err); m != nil && asMessage {
				return replyV0(m)
			}
			return nil, err
		}
		if task, ok := result.(*a2a.Task); ok && asMessage {
			if m := reply(task); m != nil {
				return replyV0(m)
			}
		}
		return v0Event(result)
	})
}
