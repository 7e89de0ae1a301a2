package forward

import (
	"context"
	"sync"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/crowd"
)

// openSockets counts the sockets that are open, so that they are bounded, and waited for: net/http
// knows nothing of a connection that has left HTTP.
type openSockets struct {
	mu    sync.Mutex // guards the fields below
	open  int
	none  chan struct{} // is closed once the last has gone; nil until that is waited for
	ended bool
}

// enter counts one more, unless there are too many or the forwarder ends.
func (r *openSockets) enter() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || r.open >= min(mostSockets, crowd.Most()/16) {
		return false
	}
	r.open++
	return true
}

func (r *openSockets) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open--; r.open == 0 && r.none != nil {
		close(r.none)
	}
}

// end lets none in any more, and waits until the last has gone, at most until ctx ends. It must be
// called once.
func (r *openSockets) end(ctx context.Context) error {
	r.mu.Lock()
	r.ended = true
	gone := make(chan struct{})
	if r.none = gone; r.open == 0 {
		close(gone)
	}
	r.mu.Unlock()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
