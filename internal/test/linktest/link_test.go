package linktest

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// The tests of this file run in simulated time, in which a processor takes none: durations
// are exact.

const (
	far    = 100 * time.Millisecond
	mebi   = 1 << 20
	beyond = time.Nanosecond // a link's half may be rounded
)

// A near is a client beside a link, all of it within the process.
type near struct {
	*http.Client
	t     *testing.T
	u     *Upstream
	conns *pipes
}

// simulated calls test with a client at this end of a link, and [answer] at the other.
func simulated(t *testing.T, link Link, test func(near)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		conns := newPipes(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1})
		u, err := serve(conns, http.HandlerFunc(answer), link)
		if err != nil {
			t.Fatal(err)
		}
		defer u.close()
		transport := &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: pool(u)}, ForceAttemptHTTP2: link.HTTP2,
			DialContext: func(context.Context, string, string) (net.Conn, error) {
				mine, theirs := net.Pipe()
				if !conns.dial(theirs) {
					return nil, net.ErrClosed
				}
				return mine, nil
			},
		}
		defer transport.CloseIdleConnections()
		test(near{&http.Client{Transport: transport}, t, u, conns})
	})
}

func pool(u *Upstream) *x509.CertPool {
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(u.ca)
	return trusted
}

// answer reads a body, and answers as many bytes as the path says, with pauses if it says so.
func answer(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Protocol", r.Proto)
	size, slow := strings.CutPrefix(r.URL.Path, "/slow/")
	n, _ := strconv.Atoi(strings.TrimPrefix(size, "/"))
	if slow {
		_, _ = io.Copy(w, &slowly{left: n, told: w})
		return
	}
	_, _ = w.Write(make([]byte, n))
}

// slowly is as many bytes as are left, each behind a pause.
type slowly struct {
	left int
	told http.ResponseWriter // flushed before each pause, or nil
}

const pause = 40 * time.Second

func (s *slowly) Read(p []byte) (int, error) {
	if s.left == 0 {
		return 0, io.EOF
	}
	if s.told != nil {
		_ = http.NewResponseController(s.told).Flush()
	}
	time.Sleep(pause)
	s.left--
	p[0] = 'x'
	return 1, nil
}

// ask sends some bytes, wants some back, and returns how long that took.
func (c near) ask(ctx context.Context, up, down int) (time.Duration, error) {
	began := time.Now()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf("%s/%d", c.u.URL(), down), bytes.NewReader(make([]byte, up)))
	if err != nil {
		return 0, err
	}
	res, err := c.Do(r)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	n, err := io.Copy(io.Discard, res.Body)
	if err == nil && n != int64(down) {
		err = fmt.Errorf("%d bytes came of %d", n, down)
	}
	return time.Since(began), err
}

// took is ask where nothing may go wrong.
func (c near) took(up, down int) time.Duration {
	c.t.Helper()
	took, err := c.ask(c.t.Context(), up, down)
	if err != nil {
		c.t.Fatal(err)
	}
	return took
}

// wants fails the test unless got is want.
func (c near) wants(what string, got, want time.Duration) {
	c.t.Helper()
	if got < want-beyond || got > want+beyond {
		c.t.Errorf("%s took %v, want %v", what, got, want)
	}
}

// connections fails the test unless so many have been opened.
func (c near) connections(want int) {
	c.t.Helper()
	if got := c.u.Traffic().Connections; got != want {
		c.t.Errorf("%d connections, want %d", got, want)
	}
}

func TestRoundTrips(t *testing.T) {
	for name, http2 := range map[string]bool{"http1": false, "http2": true} {
		t.Run(name, func(t *testing.T) {
			simulated(t, Link{RoundTrip: far, HTTP2: http2}, func(c near) {
				c.wants("the first request: TCP, TLS and HTTP", c.took(10, 10), 3*far)
				c.wants("a request on a warm connection", c.took(10, 10), far)
				c.wants("a long answer", c.took(0, mebi), far)
				c.connections(1)
			})
		})
	}
}

func TestNoDistance(t *testing.T) {
	simulated(t, Link{}, func(c near) { c.wants("a request", c.took(mebi, mebi), 0) })
}

// TestDistanceIsNoRate: more is under way than goes in a round trip.
func TestDistanceIsNoRate(t *testing.T) {
	simulated(t, Link{RoundTrip: time.Minute}, func(c near) {
		c.took(0, 0)
		c.wants("a long request", c.took(50*mebi, 0), time.Minute)
	})
}

func TestUplink(t *testing.T) {
	simulated(t, Link{RoundTrip: far, Uplink: mebi}, func(c near) {
		c.took(0, 0)
		within := func(what string, got, want time.Duration) {
			t.Helper()
			if got < want || got > want*101/100 { // a hundredth for TLS and HTTP
				t.Errorf("%s took %v, want %v", what, got, want)
			}
		}
		within("4 MiB at 1 MiB a second", c.took(4*mebi, 0), 4*time.Second+far)
		within("an answer of 4 MiB", c.took(0, 4*mebi), far)
		var both sync.WaitGroup
		began := time.Now()
		for range 2 {
			both.Go(func() { c.took(2*mebi, 0) })
		}
		both.Wait()
		if got := time.Since(began); got < 4*time.Second || got > 5*time.Second {
			t.Errorf("two requests of 2 MiB, on connections of their own, took %v, want 4s", got)
		}
		c.connections(2)
	})
}

func TestIdleTimeout(t *testing.T) {
	simulated(t, Link{RoundTrip: far, IdleTimeout: time.Minute}, func(c near) {
		c.took(0, 0)
		time.Sleep(time.Minute - 2*far) // half a round trip is over, another one comes
		c.wants("a request before the time", c.took(0, 0), far)
		time.Sleep(time.Minute + far)
		c.connections(1)
		if open := c.u.Traffic().Open; open != 0 {
			t.Errorf("%d connections are open past the time", open)
		}
		c.wants("a request past the time", c.took(0, 0), 3*far)
		c.connections(2)
	})
}

// TestBusy: a connection is not idle while bytes go one way.
func TestBusy(t *testing.T) {
	const bytes = 5
	for name, send := range map[string]func(near) (*http.Response, error){
		"up":   func(c near) (*http.Response, error) { return c.Post(c.u.URL()+"/0", "", &slowly{left: bytes}) },
		"down": func(c near) (*http.Response, error) { return c.Get(fmt.Sprintf("%s/slow/%d", c.u.URL(), bytes)) },
	} {
		t.Run(name, func(t *testing.T) {
			simulated(t, Link{RoundTrip: far, IdleTimeout: pause * 3 / 2}, func(c near) {
				began := time.Now()
				res, err := send(c)
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				if _, err := io.Copy(io.Discard, res.Body); err != nil || time.Since(began) < bytes*pause {
					t.Errorf("after %v: %v", time.Since(began), err)
				}
			})
		})
	}
}

func TestBlackHole(t *testing.T) {
	simulated(t, Link{RoundTrip: far, IdleTimeout: time.Minute, BlackHole: true}, func(c near) {
		c.took(0, 0)
		time.Sleep(2 * time.Minute)
		ctx, cancel := context.WithTimeout(c.t.Context(), time.Hour)
		defer cancel()
		if _, err := c.ask(ctx, 0, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a request on a connection that is forgotten: %v", err)
		}
		c.connections(1)
		c.wants("a request on another one", c.took(0, 0), 3*far)
	})
}

// TestBlackHoleTellsNothing: not even that the endpoint has gone.
func TestBlackHoleTellsNothing(t *testing.T) {
	simulated(t, Link{RoundTrip: far, IdleTimeout: time.Minute, BlackHole: true}, func(c near) {
		c.took(0, 0)
		time.Sleep(2 * time.Minute)
		if err := c.u.server.Shutdown(c.t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(c.t.Context(), time.Hour)
		defer cancel()
		if _, err := c.ask(ctx, 0, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a request on a connection that is forgotten: %v", err)
		}
	})
}

func TestStall(t *testing.T) {
	simulated(t, Link{RoundTrip: far}, func(c near) {
		c.took(0, 0)
		c.u.Stall(true)
		c.u.Stall(true)
		time.AfterFunc(time.Hour, func() { c.u.Stall(false) })
		c.wants("a request on a link that stalls", c.took(0, 0), time.Hour+far/2)
		c.u.Stall(false)
		c.wants("a request when it flows again", c.took(0, 0), far)
		c.connections(1)
	})
}

// TestCutStalled: a link that stalls can be cut, and closed.
func TestCutStalled(t *testing.T) {
	simulated(t, Link{RoundTrip: far}, func(c near) {
		c.took(0, 0)
		c.u.Stall(true)
		time.AfterFunc(time.Hour, func() { c.u.Cut(RST) })
		if took, err := c.ask(c.t.Context(), mebi, 0); err == nil {
			t.Errorf("an answer came after %v on a connection that was cut", took)
		}
	})
}
