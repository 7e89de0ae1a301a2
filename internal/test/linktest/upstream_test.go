package linktest

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// client returns one that trusts what the file says, and closes its connections with the test.
func client(t *testing.T, u *Upstream) *http.Client {
	t.Helper()
	text, err := os.ReadFile(u.CAFile())
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(text) {
		t.Fatalf("%s has no certificate", u.CAFile())
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// TestProtocols: HTTP/2 is there where the link has it.
func TestProtocols(t *testing.T) {
	for want, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		u := Start(t, http.HandlerFunc(answer), Link{HTTP2: http2})
		res, err := client(t, u).Get(u.URL() + "/1")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if got := res.Header.Get("Protocol"); got != want {
			t.Errorf("%s is spoken, want %s", got, want)
		}
	}
}

func TestUntrusted(t *testing.T) {
	u := Start(t, http.HandlerFunc(answer), Link{})
	if _, err := http.Get(u.URL()); err == nil {
		t.Error("one is trusted that the system does not know")
	}
}

// TestDelay: real sockets are at a distance, too.
func TestDelay(t *testing.T) {
	u := Start(t, http.HandlerFunc(answer), Link{RoundTrip: far})
	c := near{Client: client(t, u), t: t, u: u}
	if took := c.took(1, 1); took < 3*far {
		t.Errorf("the first request took %v: less than three round trips", took)
	}
	if took := c.took(1, 1); took < far {
		t.Errorf("the second request took %v: less than a round trip", took)
	}
}

func TestTraffic(t *testing.T) {
	u := Start(t, http.HandlerFunc(answer), Link{})
	for range 2 {
		c := near{Client: client(t, u), t: t, u: u}
		c.took(2*mebi, mebi)
		c.took(2*mebi, mebi)
	}
	got := u.Traffic()
	if got.Connections != 2 || got.Open != 2 {
		t.Errorf("%d connections, of which %d are open, want two", got.Connections, got.Open)
	}
	for what, sum := range map[string][2]int64{"up": {got.Up, 8 * mebi}, "down": {got.Down, 4 * mebi}} {
		if sum[0] < sum[1] || sum[0] > sum[1]*101/100 {
			t.Errorf("%d bytes %s, want a little more than %d", sum[0], what, sum[1])
		}
	}
}

func TestCut(t *testing.T) {
	for name, c := range map[string]struct {
		how  Ending
		want error
	}{"fin": {FIN, nil}, "rst": {RST, syscall.ECONNRESET}} {
		t.Run(name, func(t *testing.T) {
			u := Start(t, http.HandlerFunc(answer), Link{})
			conn, err := tls.Dial("tcp", u.listener.Addr().String(), &tls.Config{RootCAs: pool(u)})
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := io.WriteString(conn, "GET /1 HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Read(make([]byte, 1)); err != nil { // all that was sent has been read
				t.Fatal(err)
			}
			if n := u.Cut(c.how); n != 1 {
				t.Errorf("%d connections were cut", n)
			}
			if _, err := io.Copy(io.Discard, conn.NetConn()); !errors.Is(err, c.want) {
				t.Errorf("a connection that is cut ends with %v, want %v", err, c.want)
			}
		})
	}
}

func TestRefuse(t *testing.T) {
	u := Start(t, http.HandlerFunc(answer), Link{})
	open := near{Client: client(t, u), t: t, u: u}
	open.took(1, 1)
	u.Refuse(true)
	open.took(1, 1)
	fresh := near{Client: client(t, u), t: t, u: u}
	if _, err := fresh.ask(t.Context(), 1, 1); err == nil {
		t.Error("a connection was taken that was to be refused")
	}
	u.Refuse(false)
	fresh.took(1, 1)
	fresh.connections(2)
}

// TestWebSocket: an endpoint may speak on after HTTP, and hears of a cut then.
func TestWebSocket(t *testing.T) {
	heard := make(chan error, 1)
	u := Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			heard <- err
			return
		}
		for err == nil {
			var kind websocket.MessageType
			var text []byte
			if kind, text, err = conn.Read(r.Context()); err == nil {
				err = conn.Write(r.Context(), kind, text)
			}
		}
		heard <- err
	}), Link{RoundTrip: far, HTTP2: true})
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool(u)}}
	defer transport.CloseIdleConnections()
	conn, _, err := websocket.Dial(t.Context(), u.URL(), &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	began := time.Now()
	if err := conn.Write(t.Context(), websocket.MessageText, []byte("there and back")); err != nil {
		t.Fatal(err)
	}
	if _, text, err := conn.Read(t.Context()); err != nil || string(text) != "there and back" || time.Since(began) < far {
		t.Errorf("%q came back after %v: %v", text, time.Since(began), err)
	}
	u.Cut(FIN)
	if err := <-heard; err == nil {
		t.Error("the endpoint goes on")
	}
}

// TestCleanup: an upstream that ends waits for what runs in it.
func TestCleanup(t *testing.T) {
	var url string
	t.Run("test", func(t *testing.T) {
		u := Start(t, http.HandlerFunc(answer), Link{})
		near{Client: client(t, u), t: t, u: u}.took(1, 1)
		url = strings.TrimPrefix(u.URL(), "https://")
	})
	if _, err := tls.Dial("tcp", url, nil); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("when the test has ended, it is not refused: %v", err)
	}
}

// TestRelay: an address that is elsewhere is at a distance behind a relay, and has ended behind one when it has ended.
func TestRelay(t *testing.T) {
	u := Start(t, http.HandlerFunc(answer), Link{})
	relay := Relay(t, u.Addr(), Link{RoundTrip: far})
	c := client(t, u)
	began := time.Now()
	res, err := c.Get("https://" + relay.Addr() + "/1")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if took := time.Since(began); took < 3*far {
		t.Errorf("a request took %s, want three round trips of %s", took, far)
	}
	if n := relay.Traffic().Connections; n != 1 {
		t.Errorf("%d connections", n)
	}
	c.CloseIdleConnections()
	u.close()
	if _, err := c.Get("https://" + relay.Addr() + "/1"); err == nil {
		t.Error("what has ended answers")
	}
}
