package server

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// null is the id of a response to what has none, and an empty 0.3 result.
var null = json.RawMessage("null") //nolint:gochecknoglobals // a constant

// An envelope is a JSON-RPC request. The id is kept as it was written, because
// it is echoed as it was written.
type envelope struct {
	JSONRPC, ID, Method, Params json.RawMessage
	fault                       error // of what is in it
	weight                      int   // see [scan.weight]
}

type errorResponse struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   *rpcError       `json:"error"`
}

// jsonrpc is the JSON-RPC door of both versions. As the binding has it, all
// answers to what could be read are 200.
func (s *Server) jsonrpc(w http.ResponseWriter, r *http.Request) {
	body, refused := s.readBody(w, r)
	if refused != nil {
		s.refuseBody(w, refused)
		return
	}
	c, err := s.open(r, body)
	if refused, ok := errors.AsType[*bodyError](err); ok {
		s.refuseBody(w, refused)
		return
	}
	if err != nil {
		s.failRPC(w, http.StatusOK, c, err)
		return
	}
	ctx := s.withCall(r, c.v0)
	var receipt *tasks.Receipt
	if c.v0 && s.cfg.ReplyAsMessage {
		ctx, receipt = tasks.WithReceipt(ctx)
		defer receipt.Settle(false)
	}
	r = r.WithContext(ctx)
	params := c.params
	c.params = nil // a piece of the body, which is let go when it was read: it can be large, and its caller waits for long
	if c.method.stream != nil {
		stream := c.method.stream
		s.serveStream(w, r, func() Events { return stream(ctx, params, lastEventID(r)) }, s.rpcFraming(c))
		return
	}
	answer, err := s.callRPC(r, c, params)
	if cut, _ := errors.AsType[cutOffError](err); cut.silent {
		panic(http.ErrAbortHandler)
	}
	if err != nil {
		s.failRPC(w, http.StatusOK, c, err)
		return
	}
	receipt.Settle(deliver(w, r, answer))
}

// callRPC calls a method and returns the whole answer. What panics here is the
// conversion of the parameters or the result: the handler's own panics end in
// [guard].
func (s *Server) callRPC(r *http.Request, c rpcCall, params json.RawMessage) (answer []byte, err error) {
	defer s.guard.rescue(r.Context(), "jsonrpc", &err)
	if c.method.push {
		if err := s.guard.checkPush(); err != nil {
			return nil, err
		}
	}
	result, err := c.method.unary(r.Context(), params)
	if err == nil {
		// Encoded here, so that a result that cannot be is an error with an id.
		answer, err = answeringOf(r.Context()).make(r.Context(), 0, func() ([]byte, error) {
			return encodeWithin(`{"jsonrpc":"2.0","id":`+string(c.id)+`,"result":`, result, "}\n")
		})
	}
	return answer, s.guard.public(r.Context(), "jsonrpc", err)
}

// An rpcCall is a request that has been read as far as it could be.
type rpcCall struct {
	id     json.RawMessage // fit for the response
	v0     bool            // a method of 0.3 by its name, known or not
	method method
	params json.RawMessage
}

// open reads a request. What it returns is fit for the response even if there
// is an error. A body that is declared to be something else is refused as that,
// whatever is in it.
func (s *Server) open(r *http.Request, body []byte) (rpcCall, error) {
	c := rpcCall{id: null}
	env, err := parseEnvelope(body)
	if err == nil && env.fault == nil {
		err = weigh(r, env.weight)
	}
	if err == nil {
		err = s.read(&c, r, env)
	}
	return c, cmp.Or(checkContentType(r), err)
}

// read makes the call of what was written.
func (s *Server) read(c *rpcCall, r *http.Request, env envelope) error {
	idErr := env.checkID(s.cfg.ReplyAsMessage)
	if idErr == nil {
		c.id = onOneLine(env.ID)
	}
	var methodErr error
	c.method, methodErr = s.find(c, env.Method)
	if idErr != nil && len(env.ID) > 0 {
		return idErr
	}
	if env.fault != nil {
		return env.fault
	}
	if string(env.JSONRPC) != `"2.0"` {
		return invalidRequest(`the member jsonrpc must be "2.0"`)
	}
	if err := cmp.Or(checkVersion(r), methodErr); err != nil {
		return err
	}
	if len(env.Params) == 0 || bytes.Equal(env.Params, null) {
		env.Params = json.RawMessage("{}")
	}
	if env.Params[0] != '{' {
		return invalidParams("params must be an object")
	}
	if idErr != nil && c.method.check != nil { // a caller who hears of the id alone mends nothing else
		idErr = cmp.Or(c.method.check(env.Params), idErr)
	}
	c.params = env.Params
	return idErr
}

func parseEnvelope(body []byte) (env envelope, err error) {
	body = bytes.TrimLeft(body, " \t\r\n")
	if len(body) == 0 {
		return env, a2a.NewError(a2a.ErrParseError, "the body is empty; send a JSON-RPC request")
	}
	s, err := scanBody(body, inEnvelope)
	switch {
	case err != nil:
		return env, err
	case body[0] == '[':
		return env, invalidRequest("batches are not supported; send one request at a time")
	case body[0] != '{':
		return env, invalidRequest("the body must be a JSON-RPC request object")
	}
	m := s.members
	return envelope{JSONRPC: m[0], ID: m[1], Method: m[2], Params: m[3], fault: s.fault, weight: s.weight}, nil
}

// longestID bounds the ids of requests, which stand in each event of a stream.
const longestID = 512

// checkID checks the id, which is echoed. A request without one would be a
// notification, and A2A has none. With anyType it may be what JSON-RPC does not allow.
func (e *envelope) checkID(anyType bool) error {
	switch {
	case len(e.ID) == 0:
		return invalidRequest("the member id is missing; notifications are not supported")
	case !anyType && bytes.IndexByte([]byte(`"-0123456789n`), e.ID[0]) < 0:
		return invalidRequest("the member id must be a string, a number or null")
	case len(e.ID) > longestID:
		return invalidRequest("the member id is longer than %d bytes", longestID)
	}
	return nil
}

// onOneLine copies an id, which would else keep the body, without the line breaks that one
// of any type may have between its values: it stands in each event of a stream.
func onOneLine(id json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	if json.Compact(&out, id) != nil {
		return null // cannot happen: it was scanned
	}
	return out.Bytes()
}

// find returns the method of that name: those of 0.3 have a slash in it.
func (s *Server) find(c *rpcCall, raw json.RawMessage) (method, error) {
	var name string
	if len(raw) == 0 || bytes.Equal(raw, null) {
		return method{}, invalidRequest("the member method is missing")
	}
	if err := json.Unmarshal(raw, &name); err != nil {
		return method{}, a2a.NewError(a2a.ErrMethodNotFound, "the member method must be a string")
	}
	if name == "" {
		return method{}, invalidRequest("the member method is empty")
	}
	table := s.v1
	if strings.Contains(name, "/") {
		c.v0 = true
		table = s.v0
	}
	m, ok := table[name]
	if !ok {
		return method{}, a2a.NewError(a2a.ErrMethodNotFound, "there is no method "+quote(name))
	}
	return m, nil
}

func (s *Server) refuseBody(w http.ResponseWriter, refused *bodyError) {
	s.log.Debug("request body refused", slog.Int("status", refused.status), slog.String("why", refused.text))
	refused.head(w)
	s.failRPC(w, refused.status, rpcCall{id: null}, refused.err())
}

func (s *Server) failRPC(w http.ResponseWriter, status int, c rpcCall, err error) {
	writeJSON(w, status, s.errorRPC(c, err))
}

// errorRPC is the response that an error makes, which is counted.
func (s *Server) errorRPC(c rpcCall, err error) errorResponse {
	e := toRPC(err, c.v0)
	s.metrics.refusal(e.Code)
	return errorResponse{JSONRPC: "2.0", ID: c.id, Error: e}
}
