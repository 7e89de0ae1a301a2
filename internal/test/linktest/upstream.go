package linktest

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// An Upstream is an endpoint at the far end of a [Link]. Make one with [Start].
type Upstream struct {
	link     Link
	listener net.Listener // where clients come
	far      *pipes       // where the endpoint takes them; nil for a relay
	to       string       // where a relay goes on to
	server   *http.Server
	ca       []byte // PEM
	caFile   string
	running  sync.WaitGroup

	mu    sync.Mutex // guards state
	state state
}

// Start serves endpoint at the far end of link, on a loopback port that the system picks,
// until the test ends.
func Start(tb testing.TB, endpoint http.Handler, link Link) *Upstream {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	u, err := serve(listener, endpoint, link)
	if err != nil {
		tb.Fatal(errors.Join(err, listener.Close()))
	}
	tb.Cleanup(u.close)
	u.caFile = filepath.Join(tb.TempDir(), "ca.pem")
	if err := os.WriteFile(u.caFile, u.ca, 0o644); err != nil {
		tb.Fatal(err)
	}
	return u
}

// Relay puts a link before an address, until the test ends: what connects to its [Upstream.Addr] gets there.
func Relay(tb testing.TB, to string, link Link) *Upstream {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	u := &Upstream{link: link, listener: listener, to: to, state: newState()}
	u.running.Go(u.accept)
	tb.Cleanup(u.close)
	return u
}

// serve is Start on a listener, which becomes the upstream's.
func serve(listener net.Listener, endpoint http.Handler, link Link) (*Upstream, error) {
	ca, certificate, err := authority()
	if err != nil {
		return nil, err
	}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(link.HTTP2)
	u := &Upstream{
		link: link, listener: listener, far: newPipes(listener.Addr()), ca: ca, state: newState(),
		server: &http.Server{
			Handler: endpoint, Protocols: &protocols,
			TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
			ErrorLog:  slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug), // of connections that were cut
		},
	}
	u.running.Go(u.accept)
	u.running.Go(func() { _ = u.server.ServeTLS(u.far, "", "") }) // until close
	return u, nil
}

// accept takes clients until the listener is closed.
func (u *Upstream) accept() {
	for {
		near, err := u.listener.Accept()
		if err != nil {
			return
		}
		far, reached := u.reach()
		if far == nil {
			reset(near)
			_ = near.Close()
			continue
		}
		c := newConn(u, near, far)
		if !u.admit(c) || !reached() {
			c.cut(RST)
			continue
		}
		u.running.Go(c.run)
	}
}

// reach opens the far end of a connection, and what is called has the endpoint take it.
func (u *Upstream) reach() (far net.Conn, reached func() bool) {
	if u.far == nil {
		far, err := net.Dial("tcp", u.to)
		if err != nil {
			return nil, nil
		}
		return far, func() bool { return true }
	}
	far, endpoint := net.Pipe()
	return far, func() bool { return u.far.dial(endpoint) }
}

// close ends all and waits for it.
func (u *Upstream) close() {
	u.update(func(s *state) { s.closed = true })
	_ = u.listener.Close()
	u.Cut(RST)
	if u.server != nil {
		_ = u.server.Close()
	}
	u.running.Wait()
}

// URL is where clients find the endpoint, without a path: https://127.0.0.1:PORT.
func (u *Upstream) URL() string { return fmt.Sprintf("https://%s", u.listener.Addr()) }

// Addr is where clients connect to: 127.0.0.1:PORT.
func (u *Upstream) Addr() string { return u.listener.Addr().String() }

// CAFile is a file that has, in PEM, the authority that vouches for the endpoint.
func (u *Upstream) CAFile() string { return u.caFile }

// pipes is a [net.Listener] whose connections stay within the process.
type pipes struct {
	addr   net.Addr
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes(addr net.Addr) *pipes {
	return &pipes{addr: addr, conns: make(chan net.Conn), closed: make(chan struct{})}
}

// dial has conn accepted. It reports whether there is anything to accept it.
func (p *pipes) dial(conn net.Conn) bool {
	select {
	case p.conns <- conn:
		return true
	case <-p.closed:
		return false
	}
}

// Accept implements [net.Listener].
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr implements [net.Listener].
func (p *pipes) Addr() net.Addr { return p.addr }
