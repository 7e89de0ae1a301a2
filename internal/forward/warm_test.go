package forward

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
)

// A counted endpoint counts its connections.
type counted struct {
	*httptest.Server
	mu    sync.Mutex
	conns map[net.Conn]bool
}

func newCounted(t *testing.T, secure bool, h http.HandlerFunc) *counted {
	t.Helper()
	c := &counted{Server: httptest.NewUnstartedServer(h), conns: map[net.Conn]bool{}}
	c.Config.ConnState = func(conn net.Conn, state http.ConnState) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if state == http.StateNew {
			c.conns[conn] = true
		}
	}
	if c.EnableHTTP2 = secure; secure {
		c.StartTLS()
	} else {
		c.Start()
	}
	t.Cleanup(c.Close)
	return c
}

func (c *counted) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.conns)
}

// trusting is a forwarder that trusts an endpoint's certificate.
func trusting(t *testing.T, c *counted) *Forwarder {
	t.Helper()
	f, _ := startBy(t, func(transport *http.Transport) {
		if c.TLS != nil {
			transport.TLSClientConfig = c.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
		}
	})
	return f
}

// echo takes an upgrade, and says again what it hears.
func echo(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	for {
		kind, text, err := conn.Read(context.Background())
		if err != nil || conn.Write(context.Background(), kind, text) != nil {
			return
		}
	}
}

// TestConnectionAhead has a connection made when codex is started, which the first upgrade takes; and one
// more before a turn.
func TestConnectionAhead(t *testing.T) {
	for _, secure := range []bool{false, true} {
		e := newCounted(t, secure, echo)
		f := trusting(t, e)
		c := renewed(t, f, e.URL)
		waitFor(t, func() bool { return e.count() == 1 })
		c.open(t)
		if n := e.count(); n != 1 {
			t.Errorf("TLS %v: the upgrade was on another connection, of %d", secure, n)
		}
		f.Warm() // for nothing: one was used just now
		f.lastUse.Store(0)
		f.Warm()
		f.Warm()
		waitFor(t, func() bool { return e.count() == 2 })
		c.open(t)
		if n := e.count(); n != 2 {
			t.Errorf("TLS %v: a turn's upgrade was on another connection, of %d", secure, n)
		}
	}
}

// TestConnectionAheadThatIsLost has an endpoint close it, and the upgrade go on another one.
func TestConnectionAheadThatIsLost(t *testing.T) {
	e := newCounted(t, false, echo)
	f := trusting(t, e)
	c := renewed(t, f, e.URL)
	waitFor(t, func() bool { return e.count() == 1 })
	e.CloseClientConnections()
	conn := c.open(t)
	if err := say(conn, "words"); err != nil {
		t.Fatal(err)
	}
	if got, err := hearOn(t, conn); got != "words" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestConnectionAheadOverHTTP has one made for an endpoint that takes no WebSocket: by HTTP/2 where that
// is offered.
func TestConnectionAheadOverHTTP(t *testing.T) {
	for _, secure := range []bool{false, true} {
		asked := make(chan *http.Request, 10)
		e := newCounted(t, secure, func(_ http.ResponseWriter, r *http.Request) { asked <- r })
		f := trusting(t, e)
		c := renewed(t, f, e.URL)
		if conn, _ := c.dial(t); conn != nil {
			t.Fatal("it takes WebSockets")
		}
		<-asked
		f.lastUse.Store(0)
		f.Warm()
		if r := <-asked; r.Method != http.MethodHead || r.URL.Path != "/" || r.Header.Get("Authorization") != "" {
			t.Errorf("asked %s %s with %v", r.Method, r.URL, r.Header)
		}
		f.warming.Wait()
		n := e.count()
		ask(t, c.base+"/responses", "Bearer "+c.token)
		if r := <-asked; e.count() != n || secure != (r.ProtoMajor == 2) {
			t.Errorf("by %s, on connection %d of %d", r.Proto, e.count(), n)
		}
	}
}

// TestSpareIsGivenUp has a connection that nothing needed closed.
func TestSpareIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		s := &spare{transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return near, nil }}}
		began := time.Now()
		if err := s.make(t.Context(), mustParse("http://endpoint.example/v1")); err != nil {
			t.Fatal(err)
		}
		if _, err := far.Read(make([]byte, 1)); err == nil || time.Since(began) != spareTime {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

// TestSpareIsWaitedFor has an upgrade wait for the connection that is being made.
func TestSpareIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer far.Close()
		dials := 0
		s := &spare{transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			dials++
			time.Sleep(time.Second) // a round trip
			return near, nil
		}}}
		to := mustParse("http://endpoint.example/v1")
		go func() { _ = s.make(t.Context(), to) }()
		synctest.Wait()
		if conn := s.take(t.Context(), "http://another.example"); conn != nil {
			t.Error("it leads elsewhere")
		}
		conn := s.take(t.Context(), origin(to))
		if conn == nil || dials != 1 {
			t.Fatalf("%v after %d dials", conn, dials)
		}
		_ = conn.Close()
	})
}
