package server

import (
	"net/http"
	"sync"

	"github.com/Molecule-AI/molecule-codex-runtime/server/respond"
)

// inflight counts the requests that do work, and refuses new ones once it
// drains.
type inflight struct {
	mu    sync.Mutex // guards the fields below
	open  int
	empty chan struct{} // set when draining; closed when open is 0
}

// enter reports whether a request may begin. If so, leave must follow.
func (f *inflight) enter() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.empty != nil {
		return false
	}
	f.open++
	return true
}

func (f *inflight) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open--
	if f.empty != nil && f.open == 0 {
		close(f.empty)
	}
}

// drain refuses new requests from here on. The channel is closed when the last
// open one has left.
func (f *inflight) drain() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.empty == nil {
		f.empty = make(chan struct{})
		if f.open == 0 {
			close(f.empty)
		}
	}
	return f.empty
}

func (f *inflight) draining() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.empty != nil
}

// admit lets requests in until the server drains.
func (s *Server) admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.work.enter() {
			if s.cfg.ReplyAsMessage && r.Method == http.MethodPost && respond.AtJSONRPC(r.URL.Path) {
				// See [guard.CutOffError]; and a 503 is a dead container to a platform.
				panic(http.ErrAbortHandler)
			}
			w.Header().Set("Retry-After", respond.RetryAfter)
			w.Header().Set("Connection", "close")
			respond.Fail(w, r, http.StatusServiceUnavailable, "the runtime is shutting down; try again when it is back")
			return
		}
		defer s.work.leave()
		next.ServeHTTP(w, r)
	})
}
