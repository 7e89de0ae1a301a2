package forward

import (
	"bytes"
	"strconv"
	"sync"
	"time"
)

// A Call is a request to the model, as it looks from here. Sent, First and Took count from Begun, and are
// 0 for what has not come. The connection of a WebSocket was opened before Begun.
type Call struct {
	Thread  string        // codex's; empty where the request does not name it
	Socket  bool          // by a WebSocket, else over HTTP
	Begun   time.Time     // the request has come from codex
	Connect time.Duration // how long the connection took to open; 0 if it was open already
	Sent    time.Duration // all of the request was written
	First   time.Duration // the first byte of the answer has come
	Took    time.Duration // the answer has ended
	Tokens  int           // that the model has written; 0 if the endpoint does not say
	Status  int           // of the answer, as HTTP has it; 0 if it was cut
}

// tailBytes of an answer hold what it says of the tokens: that stands at its end.
const tailBytes = 1 << 10

// A recorder notes what becomes of a call, and tells of it once it has ended.
type recorder struct {
	tell func(Call)

	mu   sync.Mutex // guards the fields below
	call Call
	open bool
	tail []byte // of the answer
}

// begin notes that a request has come. One that was begun before and has no end is told of as cut.
func (r *recorder) begin(call Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endLocked(0)
	call.Begun = time.Now()
	r.call, r.open, r.tail = call, true, r.tail[:0]
}

// connected notes how long a new connection took.
func (r *recorder) connected(took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.call.Connect = took
}

// drop forgets the call: it asks nothing of the model.
func (r *recorder) drop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = false
}

// sent notes that the request has been written.
func (r *recorder) sent() { r.mark(&r.call.Sent) }

// first notes that something of the answer has come.
func (r *recorder) first() { r.mark(&r.call.First) }

func (r *recorder) mark(at *time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open && *at == 0 {
		*at = time.Since(r.call.Begun)
	}
}

// keep notes what may be the end of an answer.
func (r *recorder) keep(piece []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.open {
		return
	}
	if more := len(r.tail) + len(piece) - tailBytes; more > 0 {
		r.tail = r.tail[:copy(r.tail, r.tail[min(more, len(r.tail)):])]
		piece = piece[max(0, len(piece)-tailBytes):]
	}
	r.tail = append(r.tail, piece...)
}

// rests reports whether an event of what was kept has come to its end.
func (r *recorder) rests() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.HasSuffix(r.tail, []byte("\n\n")) || bytes.HasSuffix(r.tail, []byte("\r\n\r\n"))
}

// end tells of the call, if there is one: of a status, or 0 of a cut.
func (r *recorder) end(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endLocked(status)
}

func (r *recorder) endLocked(status int) {
	if !r.open {
		return
	}
	r.open = false
	r.call.Status, r.call.Took, r.call.Tokens = status, time.Since(r.call.Begun), written(r.tail)
	r.tail = nil
	r.tell(r.call)
}

// written returns how many tokens the end of an answer says that it has; 0 if it does not.
func written(tail []byte) int {
	const name = `"output_tokens":`
	i := bytes.LastIndex(tail, []byte(name))
	if i < 0 {
		return 0
	}
	digits := bytes.TrimLeft(tail[i+len(name):], " ")
	end := bytes.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' })
	n, err := strconv.Atoi(string(digits[:max(0, end)]))
	if err != nil {
		return 0
	}
	return n
}
