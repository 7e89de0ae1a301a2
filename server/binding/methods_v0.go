package binding

import (
	"context"
	"encoding/json"
	"errors"

	legacy "github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"

	"github.com/Molecule-AI/molecule-codex-runtime/server/guard"
	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
)

// v0Methods are the methods of A2A 0.3. reply, if not nil, makes the answer of
// a blocking message/send of its task; with newID, messages may lack what
// [readV0Message] adds.
func v0Methods(g *guard.Guard, reply func(*a2a.Task) *a2a.Message, newID func() string) map[string]method {
	message := decoder[a2a.SendMessageRequest](func(params json.RawMessage) (*a2a.SendMessageRequest, error) {
		return wire.V0Message(params, newID)
	})
	stream := streaming(wire.FormV0(), message, g.Stream)
	stream.check = message.check
	return map[string]method{
		"message/send":                     {unary: v0Send(g, message, reply), check: message.check},
		"message/stream":                   stream,
		"tasks/resubscribe":                streaming(wire.FormV0Following(), v0Subscription, g.Resume),
		"tasks/get":                        {unary: v0Call(a2av0.ToV1GetTaskRequest, g.GetTask, wire.V0Task)},
		"tasks/cancel":                     {unary: v0Call(a2av0.ToV1CancelTaskRequest, g.CancelTask, wire.V0Task)},
		"tasks/pushNotificationConfig/set": {push: true, unary: v0Call(a2av0.ToV1PushConfig, g.CreateTaskPushConfig, a2av0.FromV1PushConfig)},
		"tasks/pushNotificationConfig/get": {push: true, unary: v0Call(a2av0.ToV1GetTaskPushConfigRequest, g.GetTaskPushConfig, a2av0.FromV1PushConfig)},
		"tasks/pushNotificationConfig/list": {push: true, unary: v0Call(a2av0.ToV1ListTaskPushConfigRequest, g.ListTaskPushConfigs,
			func(l *a2a.ListTaskPushConfigResponse) []*legacy.TaskPushConfig {
				return append([]*legacy.TaskPushConfig{}, a2av0.FromV1PushConfigs(l.Configs)...) // [] and not null
			})},
		"tasks/pushNotificationConfig/delete": {push: true, unary: v0Call(a2av0.ToV1DeleteTaskPushConfigRequest,
			func(ctx context.Context, req *a2a.DeleteTaskPushConfigRequest) (struct{}, error) {
				return struct{}{}, g.DeleteTaskPushConfig(ctx, req)
			}, func(struct{}) json.RawMessage { return wire.Null })},
		"agent/getAuthenticatedExtendedCard": {unary: unary(wire.AsIs,
			func(ctx context.Context, req *a2a.GetExtendedAgentCardRequest) (json.RawMessage, error) {
				card, err := g.GetExtendedAgentCard(ctx, req)
				if err != nil {
					return nil, err
				}
				return UnionCard(ctx, card)
			})},
	}
}

// v0Call makes a unary method of f with the conversions around it.
func v0Call[P, Req, Res, Out any](in func(*P) *Req, f func(context.Context, *Req) (Res, error), out func(Res) Out) func(context.Context, json.RawMessage) (any, error) {
	return unary(wire.AsIs, func(ctx context.Context, p *P) (any, error) {
		result, err := f(ctx, in(p))
		if err != nil {
			return nil, err
		}
		return out(result), nil
	})
}

func v0Subscription(params json.RawMessage) (*a2a.SubscribeToTaskRequest, error) {
	p, err := wire.AsIs[legacy.TaskIDParams](params)
	if err != nil {
		return nil, err
	}
	return a2av0.ToV1SubscribeToTaskRequest(p), nil
}

// v0Send is message/send. Blocking is the default of 0.3.
func v0Send(g *guard.Guard, read decoder[a2a.SendMessageRequest], reply func(*a2a.Task) *a2a.Message) func(context.Context, json.RawMessage) (any, error) {
	return unary(read, func(ctx context.Context, req *a2a.SendMessageRequest) (any, error) {
		asMessage := reply != nil && (req.Config == nil || !req.Config.ReturnImmediately)
		contextID := req.Message.ContextID // the rest of the message is not kept while its sender waits
		result, err := g.SendMessage(ctx, req)
		if err != nil {
			if cut, ok := errors.AsType[guard.CutOffError](err); ok && asMessage {
				cut.Silent = true
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
		return wire.V0Event(result)
	})
}

func replyV0(m *a2a.Message) (any, error) {
	usage, _ := m.Metadata[keys.Usage].(map[string]any)
	return wire.V0Reply(m, usage)
}
