package server

import (
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/server/binding"
	"github.com/Molecule-AI/molecule-codex-runtime/server/bounds"
	"github.com/Molecule-AI/molecule-codex-runtime/server/doors"
)

// A Server serves all routes of the runtime. Create it with [New].
type Server struct {
	cfg     Config
	log     *slog.Logger
	metrics *Metrics
	handler http.Handler
	doors   *doors.Doors
	started time.Time // the Last-Modified of the card
	work    inflight
	bodies  *bounds.Bodies
	answers *bounds.Answers
	ready   readyLog

	bindings *binding.Bindings
}

// New returns a server for cfg. It opens nothing.
func New(cfg Config) (*Server, error) {
	if cfg.Handler == nil || cfg.Card == nil {
		return nil, errors.New("server: Handler and Card must be set")
	}
	if cfg.ReplyAsMessage && cfg.Reply == nil {
		return nil, errors.New("server: ReplyAsMessage needs Reply")
	}
	s, err := bare(cfg)
	if err != nil {
		return nil, err
	}
	s.bindings = binding.New(s.cfg.bindings())
	s.handler = s.routes()
	return s, nil
}

// bare returns a server that has no routes yet.
func bare(cfg Config) (*Server, error) {
	cfg.setDefaults()
	doors, err := doors.New(cfg.doors())
	if err != nil {
		return nil, err
	}
	return &Server{
		cfg: cfg, log: cfg.Logger, metrics: cfg.Metrics, doors: doors, started: time.Now().UTC(),
		bodies: bounds.NewBodies(cfg.MaxReading), answers: bounds.NewAnswers(cfg.MaxAnswering),
	}, nil
}

// Handler returns the handler of all routes, for a server that is run
// elsewhere, as in tests. It does not drain; [Server.Serve] does.
func (s *Server) Handler() http.Handler { return s.handler }

// Probes returns the routes that probes ask, those of the machines and no others, for a runtime that is not
// called: with the doors of a [Server], and shown to the same callers. Cfg need have
// neither Handler nor Card.
func Probes(cfg Config) (http.Handler, error) {
	s, err := bare(cfg)
	if err != nil {
		return nil, err
	}
	r := s.router()
	s.probeRoutes(r)
	s.machineRoutes(r)
	return r, nil
}
