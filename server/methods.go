package server

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// Events is what a streaming method yields.
type Events = iter.Seq2[a2a.Event, error]

// A method is one entry of a version's table: unary or stream is set.
type method struct {
	unary  func(ctx context.Context, params json.RawMessage) (any, error)
	stream func(ctx context.Context, params json.RawMessage) Events
	push   bool // it is about push notifications
	// frame gives an event of stream the shape that it has on the wire.
	frame func(a2a.Event) (any, error)
}

// v1Methods are the methods of A2A 1.0.
func v1Methods(g *guard) map[string]method {
	return map[string]method{
		"SendMessage": {unary: unary(v1Message(rpcNames()), func(ctx context.Context, req *a2a.SendMessageRequest) (any, error) {
			result, err := g.SendMessage(ctx, req)
			return a2a.StreamResponse{Event: result}, err
		})},
		"SendStreamingMessage":             streaming(v1Message(rpcNames()), g.SendStreamingMessage),
		"SubscribeToTask":                  streaming(camelKeys, g.SubscribeToTask),
		"GetTask":                          {unary: unary(camelKeys, g.GetTask)},
		"ListTasks":                        {unary: unary(camelKeys, g.ListTasks)},
		"CancelTask":                       {unary: unary(camelKeys, g.CancelTask)},
		"GetExtendedAgentCard":             {unary: unary(camelKeys, g.GetExtendedAgentCard)},
		"CreateTaskPushNotificationConfig": {push: true, unary: unary(camelKeys, g.CreateTaskPushConfig)},
		"GetTaskPushNotificationConfig":    {push: true, unary: unary(camelKeys, g.GetTaskPushConfig)},
		"ListTaskPushNotificationConfigs":  {push: true, unary: unary(camelKeys, g.ListTaskPushConfigs)},
		"DeleteTaskPushNotificationConfig": {push: true, unary: unary(camelKeys, func(ctx context.Context, req *a2a.DeleteTaskPushConfigRequest) (struct{}, error) {
			return struct{}{}, g.DeleteTaskPushConfig(ctx, req)
		})},
	}
}

// A normalizer brings lenient params into the form that the SDK's types accept.
type normalizer func(json.RawMessage) (json.RawMessage, error)

// unary makes a unary method of f.
func unary[Req, Res any](normal normalizer, f func(context.Context, *Req) (Res, error)) func(context.Context, json.RawMessage) (any, error) {
	return func(ctx context.Context, raw json.RawMessage) (any, error) {
		req, err := decode[Req](normal, raw)
		if err != nil {
			return nil, err
		}
		return f(ctx, req)
	}
}

// streaming makes a 1.0 streaming method of f.
func streaming[Req any](normal normalizer, f func(context.Context, *Req) Events) method {
	return method{
		stream: func(ctx context.Context, raw json.RawMessage) Events {
			req, err := decode[Req](normal, raw)
			if err != nil {
				return failed(err)
			}
			return f(ctx, req)
		},
		frame: func(e a2a.Event) (any, error) { return a2a.StreamResponse{Event: e}, nil },
	}
}

// failed is a stream that is an error and nothing else.
func failed(err error) Events {
	return func(yield func(a2a.Event, error) bool) { yield(nil, err) }
}

func decode[T any](normal normalizer, raw json.RawMessage) (*T, error) {
	raw, err := normal(raw)
	if err != nil {
		return nil, err
	}
	out := new(T)
	if err := json.Unmarshal(raw, out); err != nil {
		return nil, paramsError(err)
	}
	return out, nil
}

// paramsError says what is wrong with params without the words of the decoder,
// which speak of our types.
func paramsError(err error) error {
	if te, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && te.Field != "" {
		what, _, _ := strings.Cut(te.Value, " ") // a number comes with its digits, however many
		return invalidParams("a %s does not belong at %s, or is too large for it", what, quote(te.Field))
	}
	if _, ok := errors.AsType[*time.ParseError](err); ok {
		return invalidParams("a timestamp is not of the form 2006-01-02T15:04:05Z")
	}
	return invalidParams("params do not have the shape that this method takes")
}
