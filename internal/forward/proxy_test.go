package forward

import (
	"bufio"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"testing"
	"time"
)

// TestProxyOfTheConnectionAhead has the connection that is made ahead go by the proxy by which requests
// go, to a port that it takes, and by none where there is none for the port.
func TestProxyOfTheConnectionAhead(t *testing.T) {
	proxy, direct := listens(t), listens(t)
	transport := &http.Transport{Proxy: func(r *http.Request) (*url.URL, error) {
		if r.URL.Host == direct.Addr().String() {
			return nil, nil
		}
		return url.Parse("http://" + proxy.Addr().String())
	}}
	f, err := Listen(transport, func(Call) {}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	renewed(t, f, "https://endpoint.example/v1")
	conn, err := proxy.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if r, err := http.ReadRequest(bufio.NewReader(conn)); err != nil || r.Method != http.MethodConnect || r.Host != "endpoint.example:443" {
		t.Errorf("the proxy is asked for %+v, %v", r, err)
	}
	_ = conn.Close()
	f.warming.Wait()
	renewed(t, f, "http://"+direct.Addr().String()+"/v1")
	if conn, err := direct.Accept(); err != nil {
		t.Error(err)
	} else {
		defer conn.Close()
	}
	if err := f.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// listens has a listener whose connections come soon.
func listens(t *testing.T) *net.TCPListener {
	t.Helper()
	ln, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err == nil {
		err = ln.SetDeadline(time.Now().Add(patience))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	return ln
}
