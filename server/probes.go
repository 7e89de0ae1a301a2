package server

import (
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

func (s *Server) probeRoutes(r chi.Router) {
	both(r, "/healthz", s.healthz)
	both(r, "/readyz", s.readyz) // shows less to strangers instead of refusing them
	// What cannot be told in time, as of the state's rows on a slow disk, is left out.
	shown := promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}
	r.With(s.doors.RequireReader).Method(http.MethodGet, "/metrics", promhttp.HandlerFor(s.cfg.Registry, shown))
}

// machineRoutes are for the operator of the runtime, who comes through the door of the metrics: with the token, or from this
// machine where none is set. They are there beside the probes alone, too: a channel has machines and no console.
func (s *Server) machineRoutes(r chi.Router) {
	if s.cfg.Machines == nil {
		return
	}
	r = r.With(s.doors.RequireReader)
	r.Method(http.MethodGet, "/machines", s.cfg.Machines)
	r.Method(http.MethodPost, "/machines/{name}/drain", s.cfg.Machines)
	r.Method(http.MethodPost, "/machines/{name}/undrain", s.cfg.Machines)
}

// both serves h to GET and to HEAD.
func both(r chi.Router, path string, h http.HandlerFunc) {
	r.Get(path, h)
	r.Head(path, h)
}
