package server

import (
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Probes returns the routes that probes ask and no others, for a runtime that nobody
// calls: with the doors of a [Server], and shown to the same callers. Cfg need have
// neither Handler nor Card.
func Probes(cfg Config) (http.Handler, error) {
	s, err := bare(cfg)
	if err != nil {
		return nil, err
	}
	r := s.router()
	s.probeRoutes(r)
	return r, nil
}

func (s *Server) probeRoutes(r chi.Router) {
	both(r, "/healthz", s.healthz)
	both(r, "/readyz", s.readyz) // shows less to strangers instead of refusing them
	// What cannot be told in time, as of the state's rows on a slow disk, is left out.
	shown := promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}
	r.With(s.requireReader).Method(http.MethodGet, "/metrics", promhttp.HandlerFor(s.cfg.Registry, shown))
}
