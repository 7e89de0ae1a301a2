package bounds

import (
	"context"
	"io"
	"net/http"
	"sync"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

var errNoRoom error = &BodyError{http.StatusServiceUnavailable, "too many large requests come at once; send it again in a second"}

// MostDecoded is how many large bodies are decoded at once: one that is has some six times its
// size for a moment.
const MostDecoded = 2

// Bodies bound the memory of the messages that come: their bodies, as they are read, and what
// is decoded of them share a room, until they are taken.
type Bodies struct {
	Room  *Room
	Turns chan struct{} // of those that are decoded, if they are large
}

// NewBodies returns Bodies with a room of size bytes.
func NewBodies(size int64) *Bodies {
	return &Bodies{Room: newRoom(size), Turns: make(chan struct{}, MostDecoded)}
}

type bodyKey struct{}

// A roomyBody takes from the room what it reads, as it comes: a sender that announces much
// and sends little holds little.
type roomyBody struct {
	io.ReadCloser
	of *Bodies

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
	more := b.of.Room.share(b.weight) - b.held
	if more <= 0 || b.dropped {
		return true
	}
	if !b.of.Room.take(more) {
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
	case b.of.Turns <- struct{}{}:
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
		<-b.of.Turns
	}
}

// drop gives back what the body has taken, once.
func (b *roomyBody) drop() {
	b.end()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.of.Room.give(b.held)
	b.held, b.dropped = 0, true
}

// Share has the bodies of requests share the room. What a message holds is given back when
// the engine has the message, for its sender may wait for long, else at the end of the request.
func (b *Bodies) Share(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		body := &roomyBody{ReadCloser: r.Body, of: b}
		defer body.drop()
		r = r.WithContext(context.WithValue(tasks.OnTaken(r.Context(), body.drop), bodyKey{}, body))
		r.Body = body
		next.ServeHTTP(w, r)
	})
}

// Weigh has the body of a request hold weight more bytes, for what will be decoded of it, and
// wait for its turn to be decoded.
func Weigh(r *http.Request, weight int) error {
	body, ok := r.Context().Value(bodyKey{}).(*roomyBody)
	if !ok {
		return nil
	}
	if !body.hold(int64(weight)) {
		body.drop()
		return errNoRoom
	}
	return body.begin(r.Context())
}

// Decoded ends the turn: nothing more is made of the body.
func Decoded(ctx context.Context) {
	if body, ok := ctx.Value(bodyKey{}).(*roomyBody); ok {
		body.end()
	}
}
