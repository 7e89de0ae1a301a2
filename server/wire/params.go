package wire

import (
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// V1Params reads params of 1.0. What says them in another way than the SDK's
// types is looked at only when those do not take it, which is seldom.
func V1Params[T any](raw json.RawMessage) (*T, error) {
	if out, ok := straight[T](raw); ok {
		return out, nil
	}
	raw, err := protoJSON(raw)
	if err != nil {
		return nil, err
	}
	return AsIs[T](raw)
}

// straight reads params that need no leniency; false if they do.
func straight[T any](raw json.RawMessage) (*T, bool) {
	out := new(T)
	return out, !hasSnakeKey(raw) && json.Unmarshal(raw, out) == nil
}

func AsIs[T any](raw json.RawMessage) (*T, error) {
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
		return InvalidParams("a %s does not belong at %s, or is too large for it", what, Quote(te.Field))
	}
	if _, ok := errors.AsType[*time.ParseError](err); ok {
		return InvalidParams("a timestamp is not of the form 2006-01-02T15:04:05Z")
	}
	return InvalidParams("params do not have the shape that this method takes")
}
