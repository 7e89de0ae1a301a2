package wire

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// protoJSON brings the params of a request into the one form that the SDK's
// types take, from those that parsers of ProtoJSON must accept: names in
// snake_case, whole numbers written as 1.0, 1e1 or "1", and enums by number.
func protoJSON(raw json.RawMessage) (json.RawMessage, error) {
	params, err := asObject(camelKeys(raw), "the request")
	if err != nil {
		return nil, err
	}
	if err := params.whole("", "pageSize", "historyLength"); err != nil {
		return nil, err
	}
	if state, ok := numbered(params["status"], stateNames()); ok {
		params.set("status", state)
	}
	if params.has("configuration") && params["configuration"][0] == '{' {
		configuration, err := asObject(params["configuration"], "configuration")
		if err != nil {
			return nil, err
		}
		if err := configuration.whole("configuration.", "historyLength"); err != nil {
			return nil, err
		}
		params.set("configuration", configuration)
	}
	return json.Marshal(params)
}

// whole writes the named members as whole numbers, if they are there and say one.
// The error names them behind where.
func (o object) whole(where string, names ...string) error {
	for _, name := range names {
		if !o.has(name) || !isNumber(o[name]) && o[name][0] != '"' {
			continue
		}
		text := string(o[name])
		if o[name][0] == '"' {
			text = o.text(name)
		}
		n, err := wholeNumber(where+name, text)
		if err != nil {
			return err
		}
		o.set(name, n)
	}
	return nil
}

// wholeNumber reads a number as ProtoJSON writes it. What is larger than 32 bits
// and a number all the same is for the handler to refuse.
func wholeNumber(name, text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err == nil && isNumber([]byte(text)) {
		return n, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !isNumber([]byte(text)) || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, InvalidParams("%s is %s; it must be a whole number of 32 bits", name, Quote(text))
	}
	return int(f), nil
}

func isNumber(text []byte) bool {
	s := scan{in: text}
	return s.number() && s.at == len(text)
}

// numbered returns the name that an enum has for a number.
func numbered(raw json.RawMessage, names []string) (string, bool) {
	if len(raw) == 0 || !isNumber(raw) {
		return "", false
	}
	n, err := wholeNumber("", string(raw))
	if err != nil || n < 0 || n >= len(names) {
		return "", false
	}
	return names[n], true
}

// roleNames and stateNames are in the order of the protocol's enums.
func roleNames() []string { return []string{"ROLE_UNSPECIFIED", "ROLE_USER", "ROLE_AGENT"} }

const stateUnspecified = "TASK_STATE_UNSPECIFIED"

func stateNames() []string {
	return []string{
		stateUnspecified, string(a2a.TaskStateSubmitted), string(a2a.TaskStateWorking), string(a2a.TaskStateCompleted), string(a2a.TaskStateFailed),
		string(a2a.TaskStateCanceled), string(a2a.TaskStateInputRequired), string(a2a.TaskStateRejected), string(a2a.TaskStateAuthRequired),
	}
}

// stateNamed is the state that a query names, by name or number.
func stateNamed(text string) a2a.TaskState {
	if name, ok := numbered(json.RawMessage(strings.TrimSpace(text)), stateNames()); ok {
		text = name
	}
	if text == stateUnspecified {
		return a2a.TaskStateUnspecified
	}
	return a2a.TaskState(text)
}

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

// AsIs reads params that are to have the form of T.
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
