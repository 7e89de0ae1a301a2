package server

import (
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// freeBody is what each body may have beside the room: the common message waits for nothing
// and is refused for nothing.
const freeBody = 64 << 10

var errNoRoom = errors.New("server: no room for another large body")

// A room bounds the memory of the bodies that are being read and not yet taken, or of the
// answers that are being written. What was taken is bounded by its place in the queue.
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

// A roomyBody takes from the room what it reads, as it comes: a sender who announces much
// and sends little holds little.
type roomyBody struct {
	io.ReadCloser
	room *room

	mu      sync.Mutex
	read    int64
	held    int64
	dropped bool
}

func (b *roomyBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 && !b.hold(int64(n)) {
		return 0, errNoRoom
	}
	return n, err
}

func (b *roomyBody) hold(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.read += n
	more := max(0, b.read-freeBody) - b.held
	if more <= 0 || b.dropped {
		return true
	}
	if !b.room.take(more) {
		return false
	}
	b.held += more
	return true
}

// drop gives back what the body has taken, once.
func (b *roomyBody) drop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.room.give(b.held)
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
		body := &roomyBody{ReadCloser: r.Body, room: &s.room}
		defer body.drop()
		r = r.WithContext(tasks.OnTaken(r.Context(), body.drop))
		r.Body = body
		next.ServeHTTP(w, r)
	})
}
