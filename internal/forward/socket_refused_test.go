package forward

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/crowd"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/upgrades"
)

// TestManySockets has what is asked for one too many asked over HTTP.
func TestManySockets(t *testing.T) {
	s := newSpeaker(t, func(*websocket.Conn, []byte) error { return nil })
	f, _ := start(t)
	c := renewed(t, f, s.url)
	taken := 0
	for f.sockets.enter() {
		taken++
	}
	if most := min(mostSockets, crowd.Most()/16); taken != most {
		t.Errorf("there is room for %d, want %d", taken, most)
	}
	if conn, res := c.dial(t); conn != nil || res.StatusCode != http.StatusUpgradeRequired {
		t.Errorf("%s", res.Status)
	}
	f.sockets.leave()
	c.open(t)
	for range taken - 1 {
		f.sockets.leave()
	}
}

// TestWithoutSockets has codex ask over HTTP, at once, where an endpoint takes no upgrade; and the
// endpoint is left alone with it from then on.
func TestWithoutSockets(t *testing.T) {
	for name, odd := range upgrades.Refusals(key) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := make(chan string, 10)
			url := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Upgrade") == "" {
					return
				}
				asked <- r.URL.Path
				odd(w, r)
			})
			f, log := start(t)
			c := renewed(t, f, url)
			for range 3 {
				if conn, res := c.dial(t); conn != nil || res.StatusCode != http.StatusUpgradeRequired {
					t.Fatalf("%s: %s", res.Status, log)
				}
			}
			if n := len(asked); n < 1 || n > 2 { // one that is cut was perhaps on a connection that had ended
				t.Errorf("asked %d times", len(asked))
			}
		})
	}
}

// TestSpeakersInTrouble has an endpoint that speaks by WebSockets refuse one: codex is to try again a few
// times, where the endpoint has trouble, and to ask over HTTP else.
func TestSpeakersInTrouble(t *testing.T) {
	const again, overHTTP = http.StatusBadGateway, http.StatusUpgradeRequired
	for status, want := range map[int]int{503: again, 0: again, 501: overHTTP, 429: overHTTP, 401: overHTTP, 404: overHTTP} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			var ill atomic.Bool
			url := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
				switch {
				case !ill.Load():
					echo(w, r)
				case status == 0:
					upgrades.Bytes("")(w, r)
				default:
					upgrades.Status(status)(w, r)
				}
			})
			f, _ := start(t)
			c := renewed(t, f, url)
			conn := c.open(t)
			if err := say(conn, "words"); err != nil {
				t.Fatal(err)
			}
			if _, err := hearOn(t, conn); err != nil {
				t.Fatal(err)
			}
			ill.Store(true)
			for n := range mostTroubles + 2 {
				if n == mostTroubles {
					want = overHTTP
				}
				if conn, res := c.dial(t); conn != nil || res.StatusCode != want {
					t.Errorf("upgrade %d: %s", n, res.Status)
				}
			}
		})
	}
}

// TestUnreachable has codex try again, whatever is known of the endpoint.
func TestUnreachable(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	f, _ := start(t)
	c := renewed(t, f, s.URL)
	for range 2 {
		if conn, res := c.dial(t); conn != nil || res.StatusCode != http.StatusBadGateway {
			t.Errorf("%s", res.Status)
		}
	}
}

// TestUnreachableBehindTheConnectionAhead has an endpoint go while a connection ahead is there: codex is
// to try again, and is told no more of the URL than over HTTP.
func TestUnreachableBehindTheConnectionAhead(t *testing.T) {
	ln := listens(t)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		_ = ln.Close()
		_, _ = conn.Read(make([]byte, 1))
		_ = conn.Close()
	}()
	f, log := start(t)
	c := renewed(t, f, "http://user:pass@"+ln.Addr().String()+"/tenant/v1")
	f.warming.Wait()
	conn, res := c.dial(t)
	if conn != nil || res.StatusCode != http.StatusBadGateway {
		t.Errorf("%s", res.Status)
	}
	text, err := io.ReadAll(res.Body)
	if err != nil || strings.Contains(string(text)+log.String(), "tenant") || strings.Contains(string(text)+log.String(), "user:") {
		t.Errorf("codex is told %s, and the log has %s, %v", text, log, err)
	}
	<-gone
}
