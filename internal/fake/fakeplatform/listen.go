package fakeplatform

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// Start runs a double on a loopback port until the test ends.
func Start(tb testing.TB, era Era) *Platform {
	tb.Helper()
	p := New(era)
	s := httptest.NewServer(p)
	p.URL, p.hangUp = s.URL, s.CloseClientConnections
	tb.Cleanup(func() {
		p.cancel() // ends what hangs
		s.CloseClientConnections()
		s.Close()
		p.Close()
	})
	return p
}

// RunWith serves the handler, which has the double in it, at the address until ctx ends.
// It calls ready when [Platform.URL] is known.
func (p *Platform) RunWith(ctx context.Context, addr string, handler http.Handler, ready func()) error {
	defer p.Close()
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("listen for the platform: %w", err)
	}
	p.URL = "http://" + listener.Addr().String()
	s := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- s.Serve(listener) }()
	ready()
	select {
	case err = <-served:
	case <-ctx.Done():
		p.cancel() // ends what hangs
		err = errors.Join(s.Close(), <-served)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
