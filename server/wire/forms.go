package wire

import (
	"bytes"
	"encoding/json"

	legacy "github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2apb/v0/pbjson"
)

// A Form is one of the shapes that events have on the wire. An event is encoded
// once in each form, for all the readers who want that one, so encode knows
// nothing of a reader. What it returns has no line break in it.
type Form struct {
	Name   string
	Encode func(a2a.Event) ([]byte, error)
}

// FormV1 is that of 1.0, in both of its bindings.
func FormV1() Form { return Form{"1.0", encodeV1} }

func encodeV1(e a2a.Event) ([]byte, error) { return Marshal(a2a.StreamResponse{Event: e}) }

// FormV0 is that of JSON-RPC in 0.3.
func FormV0() Form { return Form{"0.3", encodeV0} }

func encodeV0(e a2a.Event) ([]byte, error) {
	v, err := V0Event(e)
	if err != nil {
		return nil, err
	}
	if update, ok := v.(*legacy.TaskStatusUpdateEvent); ok && update.Status.State == legacy.TaskStateAuthRequired {
		update.Final = true // the SDK knows of questions only
	}
	return Marshal(v)
}

// FormV0Following is formV0 for streams that go on behind a question: clients leave
// a stream at the event that says final.
func FormV0Following() Form { return Form{"0.3 following", encodeV0Following} }

func encodeV0Following(e a2a.Event) ([]byte, error) {
	v, err := V0Event(e)
	if err != nil {
		return nil, err
	}
	if update, ok := v.(*legacy.TaskStatusUpdateEvent); ok && update.Status.State == legacy.TaskStateInputRequired {
		update.Final = false
	}
	return Marshal(v)
}

// FormV0REST is that of HTTP+JSON in 0.3.
func FormV0REST() Form { return Form{"0.3 REST", pbjson.ToProtoStreamEvent} }

// Marshal is json.Marshal without the escaping of <, > and &, which only matters
// inside of HTML.
func Marshal(v any) (json.RawMessage, error) { return encodeWithin("", v, "") }

// Encode is [Marshal] with a newline behind it.
func Encode(v any) ([]byte, error) { return encodeWithin("", v, "\n") }

// encodeWithin writes head, v and tail. What is JSON already is not read again.
func encodeWithin(head string, v any, tail string) ([]byte, error) {
	var buf bytes.Buffer
	buf.WriteString(head)
	if raw, ok := v.(json.RawMessage); ok {
		buf.Write(raw)
	} else {
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			return nil, err
		}
		buf.Truncate(buf.Len() - 1) // its newline
	}
	buf.WriteString(tail)
	return buf.Bytes(), nil
}
