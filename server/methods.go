package server

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// Events is what a streaming method yields.
type Events = iter.Seq2[*tasks.Event, error]

// A method is one entry of a version's table: unary or stream is set.
type method struct {
	unary func(ctx context.Context, params json.RawMessage) (any, error)
	// stream goes on behind the event with the id after, if that is not empty.
	stream func(ctx context.Context, params json.RawMessage, after string) Events
	form   form // of the events of stream
	push   bool // it is about push notifications
	// check says what is wrong with params that unary or stream would refuse at once;
	// nil where that is for the handler to say.
	check func(params json.RawMessage) error
}

// A decoder reads the params of a method.
type decoder[Req any] func(json.RawMessage) (*Req, error)

func (d decoder[Req]) check(params json.RawMessage) error {
	_, err := d(params)
	return err
}

// unary makes a unary method of f.
func unary[Req, Res any](decode decoder[Req], f func(context.Context, *Req) (Res, error)) func(context.Context, json.RawMessage) (any, error) {
	return func(ctx context.Context, raw json.RawMessage) (any, error) {
		req, err := decode(raw)
		if err != nil {
			return nil, err
		}
		return f(ctx, req)
	}
}

// extend adds the methods of extensions to those of 1.0, whose names are taken.
func (s *Server) extend(methods map[string]func(context.Context, json.RawMessage) (any, error)) {
	for name, f := range methods {
		if _, taken := s.v1[name]; !taken {
			s.v1[name] = method{unary: func(ctx context.Context, params json.RawMessage) (any, error) {
				return guarded(ctx, s.guard, name, params, f)
			}}
		}
	}
}

// streaming makes a 1.0 streaming method of f.
func streaming[Req any](decode decoder[Req], f func(context.Context, *Req, string) Events) method {
	return method{
		form: formV1(),
		stream: func(ctx context.Context, raw json.RawMessage, after string) Events {
			req, err := decode(raw)
			if err != nil {
				return failed(err)
			}
			return f(ctx, req, after)
		},
	}
}

// failed is a stream that is an error and nothing else.
func failed(err error) Events {
	return func(yield func(*tasks.Event, error) bool) { yield(nil, err) }
}

// v1Params reads params of 1.0. What says them in another way than the SDK's
// types is looked at only when those do not take it, which is seldom.
func v1Params[T any](raw json.RawMessage) (*T, error) {
	if out, ok := straight[T](raw); ok {
		return out, nil
	}
	raw, err := protoJSON(raw)
	if err != nil {
		return nil, err
	}
	return asIs[T](raw)
}

// straight reads params that need no leniency; false if they do.
func straight[T any](raw json.RawMessage) (*T, bool) {
	out := new(T)
	return out, !hasSnakeKey(raw) && json.Unmarshal(raw, out) == nil
}

func asIs[T any](raw json.RawMessage) (*T, error) {
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
