package machine

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/crowd"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/identity"
)

const (
	headerTime = 10 * time.Second
	// idleTime is longer than a runtime keeps a connection that is idle.
	idleTime  = 2 * time.Minute
	mostOpen  = 2048
	mostBytes = 32 << 10 // of a header
	closeTime = 2 * time.Second
)

// A server is the listener and what serves it.
type server struct {
	http   *http.Server
	addr   string
	served chan error // told once, when the listener is closed
	log    *slog.Logger
}

// listen begins to serve.
func listen(ctx context.Context, addr string, cert *identity.Certificate, handler http.Handler, log *slog.Logger) (*server, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen for runtimes: %w", err)
	}
	srv := &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: mostBytes,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	// HTTP/1.1 alone, of which a WebSocket can be made.
	secret := tls.NewListener(ln, &tls.Config{MinVersion: tls.VersionTLS13, GetCertificate: cert.Get, NextProtos: []string{"http/1.1"}})
	bounded := crowd.Bound(srv, secret, min(mostOpen, crowd.Most()), log)
	inCrowd := srv.ConnContext
	srv.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(inCrowd(ctx, conn), connKey{}, conn)
	}
	s := &server{http: srv, addr: ln.Addr().String(), served: make(chan error, 1), log: log}
	go func() { s.served <- srv.Serve(bounded) }()
	return s, nil
}

// close has requests that are answered come to their ends, for a moment, and ends the others.
func (s *server) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close()
	}
	if err := <-s.served; !errors.Is(err, http.ErrServerClosed) {
		s.log.Warn("the listener has ended", "err", err)
	}
}

type connKey struct{}

// below is the connection that a connection of a crowd is made of: that of TLS.
func below(conn net.Conn) net.Conn {
	if inner, ok := conn.(interface{ NetConn() net.Conn }); ok {
		return inner.NetConn()
	}
	return conn
}

// socketOf is the socket of a request's connection; nil if it is not known.
func socketOf(request context.Context) *net.TCPConn {
	conn, ok := request.Value(connKey{}).(net.Conn)
	if !ok {
		return nil
	}
	socket, _ := below(below(conn)).(*net.TCPConn)
	return socket
}
