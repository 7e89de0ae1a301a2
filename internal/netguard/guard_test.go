package netguard_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/netguard"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/stayhttp"
)

func TestAddresses(t *testing.T) {
	g := netguard.New(netip.MustParsePrefix("10.1.0.0/16"))
	for address, ok := range map[string]bool{
		"8.8.8.8": true, "2606:4700::1111": true, "10.1.2.3": true, "::ffff:10.1.2.3": true, "64:ff9b::808:808": true,
		"127.0.0.1": false, "::1": false, "::ffff:127.0.0.1": false, "::127.0.0.1": false, "0.0.0.0": false, "::": false,
		"10.2.0.1": false, "172.16.0.1": false, "192.168.1.1": false, "169.254.169.254": false, "fe80::1%eth0": false,
		"fd00::1": false, "100.100.100.200": false, "224.0.0.1": false, "255.255.255.255": false, "ff02::1": false,
		"64:ff9b::7f00:1": false, "64:ff9b:1:7f00:0:100:808:808": false, "2002:7f00:1::": false, "2002:a9fe:a9fe::1": false, "198.18.0.1": false, "2001:db8::1": false,
		// Addresses that lead to others: SIIT, NAT64 of a network's own, Teredo, 6to4 to
		// the public internet too, IPv4 in IPv6 as it once was.
		"::ffff:0:7f00:1": false, "::ffff:0:808:808": false, "::ffff:0:a9fe:a9fe": false, "64:ff9b:1::808:808": false, "64:ff9b:1:ffff::1": false,
		"64:ff9b::a9fe:a9fe": false, "64:ff9b::a01:203": true, "64:ff9b::a02:1": false, "2001:0:808:808::1": false, "2002:808:808::1": false, "::8.8.8.8": false,
		"::ffff:8.8.8.8": true, "::ffff:169.254.169.254": false, "::ffff:0.0.0.0": false,
		// Azure's platform, which no registry has.
		"168.63.129.16": false, "::ffff:168.63.129.16": false, "64:ff9b::a83f:8110": false, "168.63.129.15": true, "168.63.129.17": true,
		// The edges of ranges.
		"9.255.255.255": true, "11.0.0.0": true, "100.63.255.255": true, "100.64.0.0": false, "100.127.255.255": false, "100.128.0.0": true,
		"172.15.255.255": true, "172.31.255.255": false, "172.32.0.0": true, "192.0.0.192": false, "192.0.1.1": true, "192.0.2.1": false, "192.88.99.1": false,
		"198.17.255.255": true, "198.19.255.255": false, "198.51.100.7": false, "203.0.113.7": false, "223.255.255.255": true, "239.255.255.250": false, "240.0.0.1": false,
		// No global unicast, or a special piece of it.
		"100::1": false, "100:0:0:1::1": false, "1fff::1": false, "4000::1": false, "5f00::1": false, "fc00::1": false, "fe80::1": false, "febf::1": false,
		"fec0::1": false, "ff0e::1": false, "2001:1::1": false, "2001:10::1": false, "2001:20::1": false, "2001:1ff::1": false, "2001:200::1": true,
		"2001:db8:1::1": false, "3fff::1": false, "3fff:1000::1": true, "2a00:1450:4001::200e": true,
	} {
		err := g.Address(netip.MustParseAddr(address))
		if (err == nil) != ok || err != nil && !errors.Is(err, netguard.ErrForbidden) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestURLs(t *testing.T) {
	g := netguard.New()
	for raw, want := range map[string]string{
		"https://example.com/push?x=1": "", "http://8.8.8.8:8080/": "", "http://[2606:4700::1111]/": "",
		"": "absolute", "/push": "absolute", "http:///x": "absolute", "http://:80/": "absolute", "://": "absolute",
		"file:///etc/passwd": "absolute", "ftp://example.com/": "ftp", "http://user:pass@example.com/": "password",
		"http://127.0.0.1/": "127.0.0.1", "http://[::1]:80/": "::1", "http://169.254.169.254/latest": "169.254.169.254",
		"http://LocalHost./": "127.0.0.1", "http://a.localhost/": "127.0.0.1",
	} {
		_, err := g.URL(raw)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", raw, err, want)
		}
	}
}

// Numbers that are no IP address for Go are one for a resolver: the dialed
// address decides.
func TestWhatIsDialedDecides(t *testing.T) {
	ts := httptest.NewServer(http.NotFoundHandler())
	defer ts.Close()
	port := ts.URL[strings.LastIndex(ts.URL, ":"):]
	client := netguard.New().Client(5 * time.Second)
	defer client.CloseIdleConnections()
	for _, host := range []string{"127.0.0.1", "localhost", "2130706433", "0x7f.1"} {
		res, err := client.Get("http://" + host + port)
		if err == nil {
			_ = res.Body.Close()
			t.Errorf("%s was reached", host)
		}
	}
	if _, err := client.Get(ts.URL); !errors.Is(err, netguard.ErrForbidden) {
		t.Errorf("%v", err)
	}
}

func TestAllowedAndNoRedirects(t *testing.T) {
	ts := httptest.NewServer(http.RedirectHandler("http://169.254.169.254/", http.StatusFound))
	defer ts.Close()
	client := netguard.New(netip.MustParsePrefix("127.0.0.0/8")).Client(5 * time.Second)
	defer client.CloseIdleConnections()
	res, err := client.Get(ts.URL)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusFound {
		t.Error(res.Status)
	}
}

// TestReceiverThatSwitches: the client has an error from a receiver that leaves HTTP, and does not wait for it.
func TestReceiverThatSwitches(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n")
		_, _ = io.Copy(io.Discard, conn) // until the other side ends it
		conn.Close()
	}))
	defer server.Close()
	res, err := netguard.New(netip.MustParsePrefix("127.0.0.0/8")).Client(time.Minute).Get(server.URL)
	if err == nil {
		res.Body.Close()
		t.Errorf("it is taken, with status %d", res.StatusCode)
	}
}

// TestHeadersAreBounded, of answers: a header of short fields takes many times its size.
func TestHeadersAreBounded(t *testing.T) {
	ts := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fields, err := strconv.Atoi(r.URL.Path[1:])
		if err != nil {
			t.Error(err)
		}
		for i := range fields {
			w.Header().Set(fmt.Sprintf("X-%04d", i), strings.Repeat("a", 100))
		}
	}))
	ts.EnableHTTP2 = true
	ts.StartTLS()
	defer ts.Close()
	client := netguard.New(netip.MustParsePrefix("127.0.0.0/8")).Client(5 * time.Second)
	defer client.CloseIdleConnections()
	transport, ok := client.Transport.(stayhttp.Transport).Via.(*http.Transport)
	if !ok {
		t.Fatalf("%T", client.Transport)
	}
	transport.TLSClientConfig = ts.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	transport.TLSClientConfig.NextProtos = nil
	for path, fits := range map[string]bool{"/300": true, "/1000": false} { // some 33 and 110 KB
		res, err := client.Get(ts.URL + path)
		if (err == nil) != fits {
			t.Errorf("%s fields: %v", path[1:], err)
		}
		if err != nil {
			continue
		}
		if _ = res.Body.Close(); res.ProtoMajor != 1 { // see TestIdleConnectionsAreBounded
			t.Errorf("asked by %s", res.Proto)
		}
	}
}

// TestIdleConnectionsAreBounded, to however many hosts a client is sent.
func TestIdleConnectionsAreBounded(t *testing.T) {
	const hosts, most = 100, 64
	var open atomic.Int32
	closed := make(chan struct{}, hosts)
	srv := &http.Server{
		Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), ReadHeaderTimeout: time.Minute,
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				open.Add(1)
			case http.StateClosed:
				open.Add(-1)
				closed <- struct{}{}
			case http.StateActive, http.StateIdle, http.StateHijacked:
			}
		},
	}
	defer srv.Close()
	client := netguard.New(netip.MustParsePrefix("127.0.0.0/8")).Client(time.Minute)
	defer client.CloseIdleConnections()
	for range hosts {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = srv.Serve(ln) }()
		res, err := client.Get("http://" + ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
	}
	for open.Load() > most {
		select {
		case <-closed:
		case <-time.After(10 * time.Second):
			t.Fatalf("%d connections are open", open.Load())
		}
	}
}

// TestIdleConnectionsEnd after 30 seconds, if the other side does not end them.
func TestIdleConnectionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		client := netguard.New().Client(time.Minute)
		transport, ok := client.Transport.(stayhttp.Transport).Via.(*http.Transport)
		if !ok {
			t.Fatalf("%T", client.Transport)
		}
		transport.DialContext = func(context.Context, string, string) (net.Conn, error) { return ours, nil }
		kept := make(chan time.Duration)
		go func() {
			defer func() { _ = theirs.Close() }()
			in := bufio.NewReader(theirs)
			if _, err := http.ReadRequest(in); err != nil {
				t.Error(err)
			}
			_, _ = io.WriteString(theirs, "HTTP/1.1 204 No Content\r\n\r\n")
			answered := time.Now()
			_ = theirs.SetReadDeadline(answered.Add(time.Hour))
			_, _ = in.ReadByte()
			kept <- time.Since(answered)
		}()
		res, err := client.Get("http://receiver.example/")
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if d := <-kept; d != 30*time.Second {
			t.Errorf("it is kept for %s", d)
		}
	})
}
