package server

import (
	"net/http"

	legacy "github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2apb/v0/pbjson"
)

// A form is one of the shapes that events have on the wire. An event is encoded
// once in each form, for all the readers who want that one, so encode knows
// nothing of a reader. What it returns has no line break in it.
type form struct {
	name   string
	encode func(a2a.Event) ([]byte, error)
}

// formV1 is that of 1.0, in both of its bindings.
func formV1() form { return form{"1.0", encodeV1} }

func encodeV1(e a2a.Event) ([]byte, error) { return marshal(a2a.StreamResponse{Event: e}) }

// formV0 is that of JSON-RPC in 0.3.
func formV0() form { return form{"0.3", encodeV0} }

func encodeV0(e a2a.Event) ([]byte, error) {
	v, err := v0Event(e)
	if err != nil {
		return nil, err
	}
	if update, ok := v.(*legacy.TaskStatusUpdateEvent); ok && update.Status.State == legacy.TaskStateAuthRequired {
		update.Final = true // the SDK knows of questions only
	}
	return marshal(v)
}

// formV0Following is formV0 for those who are told of a question and not done with
// it: their stream goes on, and clients leave it at the event that says final.
func formV0Following() form { return form{"0.3 following", encodeV0Following} }

func encodeV0Following(e a2a.Event) ([]byte, error) {
	v, err := v0Event(e)
	if err != nil {
		return nil, err
	}
	if update, ok := v.(*legacy.TaskStatusUpdateEvent); ok && update.Status.State == legacy.TaskStateInputRequired {
		update.Final = false
	}
	return marshal(v)
}

// formV0REST is that of HTTP+JSON in 0.3.
func formV0REST() form { return form{"0.3 REST", pbjson.ToProtoStreamEvent} }

// A framing is what a binding puts around the events of one stream.
type framing struct {
	form       form
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
func (s *Server) rpcFraming(c rpcCall) *framing {
	return &framing{
		form: c.method.form, early: c.v0,
		head: `{"jsonrpc":"2.0","id":` + string(c.id) + `,"result":`, tail: "}",
		failure: func(err error) any { return s.errorRPC(c, err) },
		refuse:  func(w http.ResponseWriter, err error) { s.failRPC(w, http.StatusOK, c, err) },
	}
}

// restFraming is the SSE of HTTP+JSON.
func restFraming(r *http.Request, of form) *framing {
	return &framing{
		form: of, nothing: r.Method == http.MethodGet,
		failure: func(err error) any { return toREST(err) },
		refuse:  func(w http.ResponseWriter, err error) { writeRESTError(w, r, err) },
	}
}
