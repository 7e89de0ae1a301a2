package server

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
)

// Pipes are a listener whose connections are in memory. Nothing outside wakes up who
// waits for one, so a server and its callers can live in a bubble of synctest, where
// no time passes while one of them has work to do.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return loopback }

var loopback = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}

// A nearPipe comes from this machine, whose callers are told more.
type nearPipe struct{ net.Conn }

func (nearPipe) RemoteAddr() net.Addr { return loopback }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- nearPipe{theirs}:
		return ours, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// serveInBubble is serve for a test within a bubble.
func serveInBubble(t *testing.T, cfg Config) *running {
	t.Helper()
	return runInBubble(t, newServer(t, cfg))
}

func runInBubble(t *testing.T, s *Server) *running {
	t.Helper()
	ln := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	r := &running{url: "http://localhost", dial: ln.dial, srv: s}
	r.serve(t, ln)
	return r
}

// do is the function of that name over the server's own connections.
func (r *running) do(t *testing.T, method, path, body string) answer {
	t.Helper()
	return doOver(t, r.transport(t), method, r.url+path, body)
}

// transport returns one that a test's end leaves no connection of.
func (r *running) transport(t *testing.T) *http.Transport {
	tr := &http.Transport{DialContext: r.dial}
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}
