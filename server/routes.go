package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
)

// known is what an answer to an unknown path names.
var known = []string{ //nolint:gochecknoglobals // a constant table
	"POST / and POST /a2a (JSON-RPC, A2A 1.0 and 0.3)",
	"POST /message:send, POST /message:stream, GET /tasks, GET /tasks/{id} (HTTP+JSON, A2A 1.0)",
	"POST /v1/message:send, POST /v1/message:stream, GET /v1/tasks/{id} (HTTP+JSON, A2A 0.3)",
	"GET /.well-known/agent-card.json",
	"GET /healthz, GET /readyz, GET /metrics",
	"GET /files/{task}/{token}/{name} (files of a reply, by the URL in it)",
	"GET /console",
}

// methods are those that routes are registered for.
var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete} //nolint:gochecknoglobals // a constant table

func (s *Server) routes() http.Handler {
	r := s.router()
	s.probeRoutes(r)
	for _, path := range cardPaths {
		both(r, path, s.card)
	}

	r.Route("/internal", s.internalRoutes)
	r.Get("/transcript", s.transcript)
	s.consoleRoutes(r)
	s.keptRoutes(r)

	r.Group(func(r chi.Router) {
		r.Use(s.requireToken, yielding, s.admit, s.roomy, s.answer, serviceHeaders)
		r.Post("/", s.jsonrpc)
		r.Post("/a2a", s.jsonrpc)
		s.restRoutes(r)
		s.restRoutesV0(r)
	})
	r.NotFound(s.notFound)
	r.MethodNotAllowed(s.methodNotAllowed(r))
	return r
}

// consoleRoutes are for people. The console has let its callers in by itself, as whoever
// holds the token.
func (s *Server) consoleRoutes(r chi.Router) {
	if s.cfg.Console == nil {
		return
	}
	agent := s.admit(s.roomy(s.answer(serviceHeaders(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.jsonrpc(w, r.WithContext(asCaller(r.Context(), true)))
	})))))
	console := s.cfg.Console(agent)
	r.Handle("/console", console)
	r.Handle("/console/*", console)
}

// router returns one without routes, with what every request goes through.
func (s *Server) router() chi.Router {
	r := chi.NewRouter()
	r.Use(plainPath, s.observe, inert, s.recoverPanics, s.doors.check)
	return r
}

func both(r chi.Router, path string, h http.HandlerFunc) {
	r.Get(path, h)
	r.Head(path, h)
}

func (s *Server) notFound(w http.ResponseWriter, r *http.Request) {
	refuse(w, r, http.StatusNotFound, problem{
		Error:     "there is nothing at " + wire.Quote(r.URL.Path),
		RequestID: requestID(r.Context()),
		Routes:    known,
	})
}

func (s *Server) methodNotAllowed(router chi.Router) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var allowed []string
		for _, m := range methods {
			if router.Match(chi.NewRouteContext(), m, routePath(r)) {
				allowed = append(allowed, m)
			}
		}
		slices.Sort(allowed)
		allow := strings.Join(allowed, ", ")
		w.Header().Set("Allow", allow)
		fail(w, r, http.StatusMethodNotAllowed, r.URL.Path+" takes "+allow)
	}
}
