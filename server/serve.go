package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/crowd"
	"github.com/Molecule-AI/molecule-codex-runtime/server/guard"
)

const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute // above the 90 s of Go's clients; where there are too many, they go sooner
	maxHeader     = 16 << 10
	// closing is what requests get to end when their context has ended.
	closing = 1500 * time.Millisecond
)

// Serve serves ln until ctx ends, then shuts down: readiness turns red, new
// work is refused, open requests get ShutdownGrace to end by themselves and are
// then cut. A server serves once. Serve returns nil after a shutdown, and
// closes ln in every case.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	base, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(nil)
	srv := &http.Server{
		Handler:           s.handler,
		BaseContext:       func(net.Listener) context.Context { return base },
		ReadHeaderTimeout: headerTimeout, // and no timeouts for reading and writing: they would cut streams
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(crowd.Bound(srv, ln, crowd.Most(), s.log)) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve on %s: %w", ln.Addr(), err)
	case <-ctx.Done():
	}
	s.drain(srv, cut)
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve on %s: %w", ln.Addr(), err)
	}
	return nil
}

// drain ends what is open. The listener stays open meanwhile, so that probes
// see why nothing more is taken.
func (s *Server) drain(srv *http.Server, cut context.CancelCauseFunc) {
	s.log.Info("server is shutting down")
	grace := time.NewTimer(s.cfg.ShutdownGrace)
	defer grace.Stop()
	select {
	case <-s.work.drain():
	case <-grace.C:
		s.log.Warn("open requests are being cut", slog.Duration("after", s.cfg.ShutdownGrace))
	}
	cut(guard.ErrShutdown)
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	if srv.Shutdown(ctx) != nil {
		_ = srv.Close() // what still hangs is a reader that takes nothing
	}
}
