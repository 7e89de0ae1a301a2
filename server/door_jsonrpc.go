package server

import (
	"cmp"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

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
			head, tail := wire.Around(c.id)
			return wire.EncodeWithin(head, result, tail+"\n")
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
	c := rpcCall{id: wire.Null}
	env, err := wire.ParseEnvelope(body)
	if err == nil && env.Fault == nil {
		err = weigh(r, env.Weight)
	}
	if err == nil {
		err = s.read(&c, r, env)
	}
	return c, cmp.Or(wire.CheckContentType(r.Header.Get("Content-Type")), err)
}

// read makes the call of what was written.
func (s *Server) read(c *rpcCall, r *http.Request, env wire.Envelope) error {
	idErr := env.CheckID(s.cfg.ReplyAsMessage)
	if idErr == nil {
		c.id = env.EchoID()
	}
	name, methodErr := env.MethodName()
	if c.v0 = ofV0(name); methodErr == nil {
		c.method, methodErr = s.find(name)
	}
	if idErr != nil && len(env.ID) > 0 {
		return idErr
	}
	if err := cmp.Or(env.Fault, env.CheckVersion(), spokenHere(r), methodErr); err != nil {
		return err
	}
	params, err := env.ParamsObject()
	if err != nil {
		return err
	}
	if idErr != nil && c.method.check != nil { // a caller who hears of the id alone mends nothing else
		idErr = cmp.Or(c.method.check(params), idErr)
	}
	c.params = params
	return idErr
}

// spokenHere refuses a request that names a version of A2A which is not ours.
func spokenHere(r *http.Request) error {
	return wire.CheckVersion(r.Header.Get(a2a.SvcParamVersion), r.URL.RawQuery)
}

// find returns the method of that name.
func (s *Server) find(name string) (method, error) {
	table := s.v1
	if ofV0(name) {
		table = s.v0
	}
	m, ok := table[name]
	if !ok {
		return method{}, a2a.NewError(a2a.ErrMethodNotFound, "there is no method "+wire.Quote(name))
	}
	return m, nil
}

// ofV0 reports whether a method is one of 0.3 by its name, known or not.
func ofV0(name string) bool { return strings.Contains(name, "/") }

func (s *Server) refuseBody(w http.ResponseWriter, refused *bodyError) {
	s.log.Debug("request body refused", slog.Int("status", refused.status), slog.String("why", refused.text))
	refused.head(w)
	s.failRPC(w, refused.status, rpcCall{id: wire.Null}, refused.err())
}

func (s *Server) failRPC(w http.ResponseWriter, status int, c rpcCall, err error) {
	writeJSON(w, status, s.errorRPC(c, err))
}

// errorRPC is the response that an error makes, which is counted.
func (s *Server) errorRPC(c rpcCall, err error) wire.RPCResponse {
	response := wire.FailedRPC(c.id, err, c.v0)
	s.metrics.refusal(response.Error.Code)
	return response
}
