package wire

import (
	"bytes"
	"encoding/json"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// Null is the id of a response to what has none, and an empty 0.3 result.
var Null = json.RawMessage("null") //nolint:gochecknoglobals // a constant

var emptyObject = json.RawMessage("{}") //nolint:gochecknoglobals // a constant

// An Envelope is a JSON-RPC request. The id is kept as it was written, because
// it is echoed as it was written.
type Envelope struct {
	JSONRPC, ID, Method, Params json.RawMessage
	Fault                       error // what is wrong in it, though it can be read
	Weight                      int   // about how many bytes what is decoded of it takes
}

// ParseEnvelope reads a body. What is wrong with it, though it is an envelope, is its
// fault, so that the answer has its id.
func ParseEnvelope(body []byte) (env Envelope, err error) {
	body = bytes.TrimLeft(body, " \t\r\n")
	if len(body) == 0 {
		return env, a2a.NewError(a2a.ErrParseError, "the body is empty; send a JSON-RPC request")
	}
	s, err := scanBody(body, inEnvelope)
	switch {
	case err != nil:
		return env, err
	case body[0] == '[':
		return env, InvalidRequest("batches are not supported; send one request at a time")
	case body[0] != '{':
		return env, InvalidRequest("the body must be a JSON-RPC request object")
	}
	m := s.members
	return Envelope{JSONRPC: m[0], ID: m[1], Method: m[2], Params: m[3], Fault: s.fault, Weight: s.weight}, nil
}

// longestID bounds the ids of requests, which stand in each event of a stream.
const longestID = 512

// CheckID checks the id, which is echoed. A request without one would be a
// notification, and A2A has none. With anyType it may be what JSON-RPC does not allow.
func (e *Envelope) CheckID(anyType bool) error {
	switch {
	case len(e.ID) == 0:
		return InvalidRequest("the member id is missing; notifications are not supported")
	case !anyType && bytes.IndexByte([]byte(`"-0123456789n`), e.ID[0]) < 0:
		return InvalidRequest("the member id must be a string, a number or null")
	case len(e.ID) > longestID:
		return InvalidRequest("the member id is longer than %d bytes", longestID)
	}
	return nil
}

// MethodName is the method that it names; those of 0.3 have a slash in it.
func (e *Envelope) MethodName() (string, error) {
	var name string
	if len(e.Method) == 0 || bytes.Equal(e.Method, Null) {
		return "", InvalidRequest("the member method is missing")
	}
	if err := json.Unmarshal(e.Method, &name); err != nil {
		return "", a2a.NewError(a2a.ErrMethodNotFound, "the member method must be a string")
	}
	if name == "" {
		return "", InvalidRequest("the member method is empty")
	}
	return name, nil
}

// CheckVersion checks which JSON-RPC it is.
func (e *Envelope) CheckVersion() error {
	if string(e.JSONRPC) != `"2.0"` {
		return InvalidRequest(`the member jsonrpc must be "2.0"`)
	}
	return nil
}

// ParamsObject is what stands at params, {} if nothing does.
func (e *Envelope) ParamsObject() (json.RawMessage, error) {
	switch {
	case len(e.Params) == 0 || bytes.Equal(e.Params, Null):
		return emptyObject, nil
	case e.Params[0] != '{':
		return nil, InvalidParams("params must be an object")
	}
	return e.Params, nil
}

// EchoID is the id for the answer: a copy, which does not keep the body, without the line
// breaks that one of any type may have between its values, for it stands in each event of a
// stream.
func (e *Envelope) EchoID() json.RawMessage {
	var out bytes.Buffer
	if json.Compact(&out, e.ID) != nil {
		return Null // cannot happen: it was scanned
	}
	return out.Bytes()
}

// Around is what stands around a result: of an answer, and of each event of a stream.
func Around(id json.RawMessage) (head, tail string) {
	return `{"jsonrpc":"2.0","id":` + string(id) + `,"result":`, "}"
}

// EncodeResult writes the response that a result makes.
func EncodeResult(id json.RawMessage, result any) ([]byte, error) {
	head, _ := Around(id)
	return encodeWithin(head, result, "}\n")
}

// An RPCResponse answers with an error.
type RPCResponse struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   *rpcError       `json:"error"`
}

// FailedRPC is the response that an error makes.
func FailedRPC(id json.RawMessage, err error, v0 bool) RPCResponse {
	return RPCResponse{JSONRPC: "2.0", ID: id, Error: toRPC(err, v0)}
}
