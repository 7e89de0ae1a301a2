package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/Molecule-AI/molecule-codex-runtime/server/doors"
	"github.com/Molecule-AI/molecule-codex-runtime/server/respond"
	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
)

// known is what an answer to an unknown path names.
var known = []string{ //nolint:gochecknoglobals // a constant table
	"POST / and POST /a2a (JSON-RPC, A2A 1.0 and 0.3)",
	"POST /message:send, POST /message:stream, GET /tasks, GET /tasks/{id} (HTTP+JSON, A2A 1.0)",
	"POST /v1/message:send, POST /v1/message:stream, GET /v1/tasks/{id} (HTTP+JSON, A2A 0.3)",
	"GET /.well-known/agent-card.json",
	"GET /healthz, GET /readyz, GET /metrics",
	"GET /machines, POST /machines/{name}/drain, POST /machines/{name}/undrain (the machines that commands run on)",
	"GET /files/{task}/{token}/{name} (files of a reply, by the URL in it)",
	"GET /console",
}

// methods are those that routes are registered for.
var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete} //nolint:gochecknoglobals // a constant table

func (s *Server) routes() http.Handler {
	r := s.router()
	s.probeRoutes(r)
	for _, path := range respond.CardPaths {
		both(r, path, s.card)
	}

	r.Route("/internal", s.internalRoutes)
	r.With(s.doors.RequireWorkspace).Get("/transcript", s.transcript)
	s.machineRoutes(r)
	s.consoleRoutes(r)
	s.keptRoutes(r)

	r.Group(func(r chi.Router) {
		r.Use(s.doors.RequireToken, yielding, s.admit, s.bodies.Share, s.answers.Share, serviceHeaders)
		s.bindings.Routes(r)
	})
	r.NotFound(s.notFound)
	r.MethodNotAllowed(s.methodNotAllowed(r))
	return r
}

// consoleRoutes are for people. The console has let its callers in by itself, as if they
// had shown the token.
func (s *Server) consoleRoutes(r chi.Router) {
	if s.cfg.Console == nil {
		return
	}
	agent := s.admit(s.bodies.Share(s.answers.Share(serviceHeaders(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.bindings.JSONRPC(w, r.WithContext(doors.WithToken(r.Context())))
	})))))
	console := s.cfg.Console(agent)
	r.Handle("/console", console)
	r.Handle("/console/*", console)
}

// router returns one without routes, with what every request goes through.
func (s *Server) router() chi.Router {
	r := chi.NewRouter()
	r.Use(plainPath, s.observe, inert, s.recoverPanics, s.doors.CheckNames)
	return r
}

func (s *Server) notFound(w http.ResponseWriter, r *http.Request) {
	respond.Refuse(w, r, http.StatusNotFound, respond.Problem{
		Error:     "there is nothing at " + wire.Quote(r.URL.Path),
		RequestID: respond.RequestID(r.Context()),
		Routes:    known,
	})
}

func (s *Server) methodNotAllowed(router chi.Router) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var allowed []string
		for _, m := range methods {
			if router.Match(chi.NewRouteContext(), m, respond.RoutePath(r)) {
				allowed = append(allowed, m)
			}
		}
		slices.Sort(allowed)
		allow := strings.Join(allowed, ", ")
		w.Header().Set("Allow", allow)
		respond.Fail(w, r, http.StatusMethodNotAllowed, r.URL.Path+" takes "+allow)
	}
}
