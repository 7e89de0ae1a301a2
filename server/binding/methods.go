package binding

import (
	"context"
	"encoding/json"

	"github.com/Molecule-AI/molecule-codex-runtime/server/guard"
	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
)

// A method is one entry of a version's table: unary or stream is set.
type method struct {
	unary func(ctx context.Context, params json.RawMessage) (any, error)
	// stream goes on behind the event with the id after, if that is not empty.
	stream func(ctx context.Context, params json.RawMessage, after string) guard.Events
	form   wire.Form // of the events of stream
	push   bool      // it is about push notifications
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

// streaming makes a streaming method of f.
func streaming[Req any](of wire.Form, decode decoder[Req], f func(context.Context, *Req, string) guard.Events) method {
	return method{
		form: of,
		stream: func(ctx context.Context, raw json.RawMessage, after string) guard.Events {
			req, err := decode(raw)
			if err != nil {
				return guard.Failed(err)
			}
			return f(ctx, req, after)
		},
	}
}
