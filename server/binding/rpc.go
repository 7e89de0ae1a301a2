package binding

import (
	"cmp"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/server/bounds"
	"github.com/Molecule-AI/molecule-codex-runtime/server/guard"
	"github.com/Molecule-AI/molecule-codex-runtime/server/respond"
	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// JSONRPC is the JSON-RPC door of both versions. As the binding has it, all
// answers to what could be read are 200.
func (b *Bindings) JSONRPC(w http.ResponseWriter, r *http.Request) {
	body, refused := bounds.ReadBody(w, r, b.cfg.MaxBody)
	if refused != nil {
		b.refuseBody(w, refused)
		return
	}
	c, err := b.open(r, body)
	if refused, ok := errors.AsType[*bounds.BodyError](err); ok {
		b.refuseBody(w, refused)
		return
	}
	if err != nil {
		b.failRPC(w, http.StatusOK, c, err)
		return
	}
	ctx := b.call(r, c.v0)
	var receipt *tasks.Receipt
	if c.v0 && b.cfg.Reply != nil {
		ctx, receipt = tasks.WithReceipt(ctx)
		defer receipt.Settle(false)
	}
	r = r.WithContext(ctx)
	params := c.params
	c.params = nil // a piece of the body, which is let go when it was read: it can be large, and its caller waits for long
	if c.method.stream != nil {
		stream := c.method.stream
		b.serveStream(w, r, func() guard.Events { return stream(ctx, params, lastEventID(r)) }, b.rpcFraming(c))
		return
	}
	answer, err := b.callRPC(r, c, params)
	if cut, _ := errors.AsType[guard.CutOffError](err); cut.Silent {
		panic(http.ErrAbortHandler)
	}
	if err != nil {
		b.failRPC(w, http.StatusOK, c, err)
		return
	}
	receipt.Settle(deliver(w, r, answer))
}

// callRPC calls a method and returns the whole answer. What panics here is the
// conversion of the parameters or the result: the handler's own panics end in
// [guard.Guard].
func (b *Bindings) callRPC(r *http.Request, c rpcCall, params json.RawMessage) (answer []byte, err error) {
	defer b.guard.Rescue(r.Context(), "jsonrpc", &err)
	if c.method.push {
		if err := b.guard.CheckPush(); err != nil {
			return nil, err
		}
	}
	result, err := c.method.unary(r.Context(), params)
	if err == nil {
		// Encoded here, so that a result that cannot be is an error with an id.
		answer, err = bounds.AnsweringOf(r.Context()).Make(r.Context(), 0, func() ([]byte, error) {
			return wire.EncodeResult(c.id, result)
		})
	}
	return answer, b.guard.Public(r.Context(), "jsonrpc", err)
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
func (b *Bindings) open(r *http.Request, body []byte) (rpcCall, error) {
	c := rpcCall{id: wire.Null}
	env, err := wire.ParseEnvelope(body)
	if err == nil && env.Fault == nil {
		err = bounds.Weigh(r, env.Weight)
	}
	if err == nil {
		err = b.read(&c, r, env)
	}
	return c, cmp.Or(wire.CheckContentType(r.Header.Get("Content-Type")), err)
}

// read makes the call of what was written.
func (b *Bindings) read(c *rpcCall, r *http.Request, env wire.Envelope) error {
	idErr := env.CheckID(b.cfg.Reply != nil)
	if idErr == nil {
		c.id = env.EchoID()
	}
	name, methodErr := env.MethodName()
	if c.v0 = ofV0(name); methodErr == nil {
		c.method, methodErr = b.find(name)
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
func (b *Bindings) find(name string) (method, error) {
	table := b.v1
	if ofV0(name) {
		table = b.v0
	}
	m, ok := table[name]
	if !ok {
		return method{}, a2a.NewError(a2a.ErrMethodNotFound, "there is no method "+wire.Quote(name))
	}
	return m, nil
}

// ofV0 reports whether a method is one of 0.3 by its name, known or not.
func ofV0(name string) bool { return strings.Contains(name, "/") }

func (b *Bindings) refuseBody(w http.ResponseWriter, refused *bounds.BodyError) {
	b.log.Debug("request body refused", slog.Int("status", refused.Status), slog.String("why", refused.Text))
	refused.Head(w)
	b.failRPC(w, refused.Status, rpcCall{id: wire.Null}, refused.Err())
}

func (b *Bindings) failRPC(w http.ResponseWriter, status int, c rpcCall, err error) {
	respond.JSON(w, status, b.errorRPC(c, err))
}

// errorRPC is the response that an error makes, which is counted.
func (b *Bindings) errorRPC(c rpcCall, err error) wire.RPCResponse {
	response := wire.FailedRPC(c.id, err, c.v0)
	b.cfg.Metrics.RPCFailed(response.Error.Code)
	return response
}

// FailUnread answers a JSON-RPC call of which nothing was read with an error.
func (b *Bindings) FailUnread(w http.ResponseWriter, err error) {
	b.failRPC(w, http.StatusOK, rpcCall{id: wire.Null}, err)
}
