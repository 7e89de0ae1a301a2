package binding

import (
	"net/http"

	"github.com/Molecule-AI/molecule-codex-runtime/server/respond"
	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
)

// A framing is what a binding puts around the events of one stream.
type framing struct {
	form       wire.Form
	head, tail string // around the data of an event
	// early says that the stream begins before its first event, so that even an
	// error at once is an event.
	early bool
	// nothing says that a stream without any event is answered with 204: a
	// browser's EventSource comes back for ever if it is told anything else.
	nothing bool
	failure func(error) any // as an event
	// refuse answers with an error in place of the stream.
	refuse func(http.ResponseWriter, error)
}

// rpcFraming is the SSE of JSON-RPC. Clients of 0.3 expect a stream even if it
// holds nothing but an error, clients of 1.0 an ordinary answer.
func (b *Bindings) rpcFraming(c rpcCall) *framing {
	head, tail := wire.Around(c.id)
	return &framing{
		form: c.method.form, early: c.v0, head: head, tail: tail,
		failure: func(err error) any { return b.errorRPC(c, err) },
		refuse:  func(w http.ResponseWriter, err error) { b.failRPC(w, http.StatusOK, c, err) },
	}
}

// restFraming is the SSE of HTTP+JSON.
func restFraming(r *http.Request, of wire.Form) *framing {
	return &framing{
		form: of, nothing: r.Method == http.MethodGet,
		failure: func(err error) any { return wire.ToREST(err) },
		refuse:  func(w http.ResponseWriter, err error) { respond.RESTError(w, r, err) },
	}
}
