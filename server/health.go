package server

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/server/respond"
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
// callers that may read details.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	state := s.readiness(r.Context())
	s.ready.say(s.log, state)
	status := http.StatusOK
	if !state.OK {
		status = http.StatusServiceUnavailable
	}
	if !s.doors.MayRead(r) {
		state = Readiness{OK: state.OK}
	}
	w.Header().Set("Cache-Control", "no-store")
	respond.JSON(w, status, state)
}

// A readyLog writes down how readiness changes, and not how often it is asked for: anybody may.
// The zero value is of a runtime that is ready.
type readyLog struct {
	mu      sync.Mutex // guards the field below
	lacking string     // the checks that failed last
}

func (l *readyLog) say(log *slog.Logger, state Readiness) {
	lacking := ""
	if !state.OK {
		lacking = cmp.Or(strings.Join(state.lacking(), ", "), "unknown")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if lacking == l.lacking {
		return
	}
	if l.lacking = lacking; lacking == "" {
		log.Info("a turn would run: /readyz answers 200 again")
		return
	}
	log.Info("no turn would run: /readyz answers 503", "checks", lacking)
}

// lacking are the names of the checks that fail.
func (r Readiness) lacking() []string {
	var names []string
	for _, c := range r.Checks {
		if !c.OK {
			names = append(names, c.Name)
		}
	}
	return names
}

func (s *Server) readiness(ctx context.Context) Readiness {
	if s.work.draining() {
		return Readiness{Checks: []Check{{Name: "serving", Message: "the runtime is shutting down"}}}
	}
	if s.cfg.Ready == nil {
		return Readiness{OK: true}
	}
	const patience = 5 * time.Second // a probe does not wait longer either
	// That a caller leaves says nothing of readiness.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return s.cfg.Ready(ctx)
}
