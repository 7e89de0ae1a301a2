package server

import (
	"context"
	"net/http"
	"time"
)

// Readiness says whether a turn would run if a message came now.
type Readiness struct {
	OK      bool           `json:"ok"`
	Checks  []Check        `json:"checks,omitempty"`
	Details map[string]any `json:"details,omitempty"` // whatever helps an operator; no secrets
}

// A Check is one condition of readiness. Message says what is wrong and what to
// do about it, or what was found.
type Check struct {
	Name    string `json:"name"`
	OK      bool   `json:"ok"`
	Message string `json:"message,omitempty"`
}

// healthz says that the process serves, and nothing about codex.
func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte("ok\n"))
}

// readyz answers 503 unless a turn would run. Anybody may ask; why is told to
// whoever may read details.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	state := s.readiness(r.Context())
	status := http.StatusOK
	if !state.OK {
		status = http.StatusServiceUnavailable
	}
	if !s.mayRead(r) {
		state = Readiness{OK: state.OK}
	}
	w.Header().Set("Cache-Control", "no-store")
	writeJSON(w, status, state)
}

func (s *Server) readiness(ctx context.Context) Readiness {
	if s.work.draining() {
		return Readiness{Checks: []Check{{Name: "serving", Message: "the runtime is shutting down"}}}
	}
	if s.cfg.Ready == nil {
		return Readiness{OK: true}
	}
	const patience = 5 * time.Second // a probe does not wait longer either
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return s.cfg.Ready(ctx)
}
