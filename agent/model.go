package agent

import "time"

// ModelCalled says how a request to the model went that the agent has made for the message. It comes
// once the request has ended, and before what the agent makes of the answer's end; that of a subagent
// comes when something of the turn does. It comes only where the agent's requests can be seen. Sent, First
// and Took count from Begun, and are 0 for what has not come. The connection of a WebSocket was opened before
// Begun.
type ModelCalled struct {
	Socket  bool          // by a WebSocket, else over HTTP
	Begun   time.Time     // the agent has made the request
	Connect time.Duration // how long the connection took to open; 0 if it was open already
	Sent    time.Duration // the model's endpoint has been written all of it
	First   time.Duration // the first byte of the answer has come
	Took    time.Duration // the answer has ended
	Tokens  int           // that the model has written; 0 if its endpoint does not say
	Status  int           // of the answer, as HTTP has it; 0 if it was cut
}

func (ModelCalled) event() {}

// Transport names how the model was asked.
func (c ModelCalled) Transport() string {
	if c.Socket {
		return "websocket"
	}
	return "http"
}

// The outcomes of calls.
const (
	CallOK      = "ok"
	CallRefused = "refused" // by the endpoint: a 4xx
	CallFailed  = "failed"  // at the endpoint: a 5xx, or what no answer can have
	CallCut     = "cut"     // without the end of an answer
)

// Outcome names how it went.
func (c ModelCalled) Outcome() string {
	switch {
	case c.Status == 0:
		return CallCut
	case c.Status >= 200 && c.Status < 300:
		return CallOK
	case c.Status >= 400 && c.Status < 500:
		return CallRefused
	}
	return CallFailed
}

// Writing is how long the model wrote, and how many tokens; zeroes if that is not known.
func (c ModelCalled) Writing() (took time.Duration, tokens int) {
	if took = c.Took - c.First; c.Tokens <= 0 || c.First <= 0 || took <= 0 {
		return 0, 0
	}
	return took, c.Tokens
}

// Rate is how many tokens a second the model wrote; 0 if that is not known.
func (c ModelCalled) Rate() float64 {
	took, tokens := c.Writing()
	if tokens == 0 {
		return 0
	}
	return float64(tokens) / took.Seconds()
}
