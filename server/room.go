package server

import (
	"context"
	"io"
	"net/http"
	"sync"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// freeBody is what each body may have beside the room: the common message waits for nothing
// and is refused for nothing.
const freeBody = 64 << 10

var errNoRoom error = &bodyError{http.StatusServiceUnavailable, "too many large requests come at once; send it again in a second"}

// A room bounds the memory of the messages that come and are not yet taken, or of the answers
// that are being written. What was taken is bounded by its place in the queue.
type room struct {
	size int64

	mu   sync.Mutex // guards the field below
	left int64
}

func newRoom(size int64) room { return room{size: size, left: size} }

func (r *room) take(n int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left < n {
		return false
	}
	r.left -= n
	return true
}

func (r *room) give(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left += n
}

// share is what n bytes need of the room. What outweighs it has it for itself.
func (r *room) share(n int64) int64 { return min(max(0, n-freeBody), r.size) }

// mostDecoded is how many large bodies are decoded at once: one that is has some six times its
// size for a moment.
const mostDecoded = 2

// Bodies bound the memory of the messages that come: their bodies, as they are read, and what
// is decoded of them, until they are taken, share a room.
type bodies struct {
	room  room
	turns chan struct{}
}

func newBodies(size int64) bodies {
	return bodies{room: newRoom(size), turns: make(chan struct{}, mostDecoded)}
}

// A roomyBody takes from the room what it reads, as it comes: a sender who announces much
// and sends little holds little.
type roomyBody struct {
	io.ReadCloser
	of *bodies

	mu      sync.Mutex // guards the fields below
	weight  int64
	held    int64
	turn    bool
	dropped bool
}

func (b *roomyBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 && !b.hold(int64(n)) {
		return 0, errNoRoom
	}
	return n, err
}

// hold takes what the body weighs more now.
func (b *roomyBody) hold(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.weight += n
	more := b.of.room.share(b.weight) - b.held
	if more <= 0 || b.dropped {
		return true
	}
	if !b.of.room.take(more) {
		return false
	}
	b.held += more
	return true
}

// begin waits for a turn to decode the body, if it is large.
func (b *roomyBody) begin(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock() // nothing else is done with it meanwhile
	if b.held == 0 {
		return nil
	}
	select {
	case b.of.turns <- struct{}{}:
		b.turn = true
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// end ends the turn.
func (b *roomyBody) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.turn {
		b.turn = false
		<-b.of.turns
	}
}

// drop gives back what the body has taken, once.
func (b *roomyBody) drop() {
	b.end()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.of.room.give(b.held)
	b.held, b.dropped = 0, true
}

// roomy has bodies share the room. What a message has taken is given back when the engine
// has it, for its sender may wait for long, else at the end of the request.
func (s *Server) roomy(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		body := &roomyBody{ReadCloser: r.Body, of: &s.bodies}
		defer body.drop()
		r = r.WithContext(context.WithValue(tasks.OnTaken(r.Context(), body.drop), keyBody, body))
		r.Body = body
		next.ServeHTTP(w, r)
	})
}

// weigh has the body of a request take what is decoded of it, before that is, and wait for
// its turn.
func weigh(r *http.Request, weight int) error {
	body, ok := r.Context().Value(keyBody).(*roomyBody)
	if !ok {
		return nil
	}
	if !body.hold(int64(weight)) {
		body.drop()
		return errNoRoom
	}
	return body.begin(r.Context())
}

// decoded ends the turn: the request is made of its body.
func decoded(ctx context.Context) {
	if body, ok := ctx.Value(keyBody).(*roomyBody); ok {
		body.end()
	}
}
