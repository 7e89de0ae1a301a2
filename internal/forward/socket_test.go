package forward

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/crowd"
)

// patience is how long a test waits for what comes at once.
const patience = 10 * time.Second

// A speaker is an endpoint that takes WebSockets, and answers each message by what says returns.
type speaker struct {
	url string

	mu       sync.Mutex // guards the fields below
	upgrades []*http.Request
	heard    []string
}

func newSpeaker(t *testing.T, says func(conn *websocket.Conn, text []byte) error) *speaker {
	t.Helper()
	s := &speaker{}
	s.url = endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Codex-Turn-State", "sticky "+r.Header.Get("Authorization"))
		s.mu.Lock()
		s.upgrades = append(s.upgrades, r)
		s.mu.Unlock()
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer conn.CloseNow()
		conn.SetReadLimit(-1)
		for {
			_, text, err := conn.Read(context.Background())
			if err != nil {
				return
			}
			s.mu.Lock()
			s.heard = append(s.heard, string(text))
			s.mu.Unlock()
			if says(conn, text) != nil {
				return
			}
		}
	}) + "/v1"
	return s
}

func (s *speaker) seen() (upgrades []*http.Request, heard []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.upgrades, s.heard
}

// say is a message of text.
func say(conn *websocket.Conn, text string) error {
	return conn.Write(context.Background(), websocket.MessageText, []byte(text))
}

// A caller is one who shows a token.
type caller struct{ base, token string }

// renewed is who gets through to an endpoint.
func renewed(t *testing.T, f *Forwarder, url string) caller {
	t.Helper()
	base, token, err := f.Renew(Target{URL: url, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	return caller{base, token}
}

// dial asks for a WebSocket, and returns the status of what came in its place.
func (c caller) dial(t *testing.T) (*websocket.Conn, *http.Response) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, res, err := websocket.Dial(ctx, c.base+"/responses", &websocket.DialOptions{HTTPHeader: http.Header{
		"Authorization": {"Bearer " + c.token}, "Thread-Id": {"t1"}, "Openai-Beta": {"responses_websockets=2026-02-06"}, "Openai-Organization": {"another"},
	}})
	if err != nil && res == nil {
		t.Fatal(err)
	}
	if conn != nil {
		conn.SetReadLimit(-1)
		t.Cleanup(func() { _ = conn.CloseNow() })
	}
	return conn, res
}

// open is dial of one that is taken.
func (c caller) open(t *testing.T) *websocket.Conn {
	t.Helper()
	conn, res := c.dial(t)
	if conn == nil {
		t.Fatalf("refused by %s", res.Status)
	}
	return conn
}

// hear returns the next message.
func hearOn(t *testing.T, conn *websocket.Conn) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, text, err := conn.Read(ctx)
	return string(text), err
}

func TestSocket(t *testing.T) {
	s := newSpeaker(t, func(conn *websocket.Conn, text []byte) error { return say(conn, "you said "+string(text)) })
	f, _ := start(t)
	conn := renewed(t, f, s.url)
	c := conn.open(t)
	for _, text := range []string{"words", "", strings.Repeat("many words ", 50_000)} {
		if err := say(c, text); err != nil {
			t.Fatal(err)
		}
		if got, err := hearOn(t, c); err != nil || got != "you said "+text {
			t.Errorf("%d bytes: %d of them, %v", len(text), len(got), err)
		}
	}
	upgrades, _ := s.seen()
	r := upgrades[0]
	if len(upgrades) != 1 || r.URL.Path != "/v1/responses" || r.Header.Get("Authorization") != "Bearer "+key || r.Header.Get("Thread-Id") != "t1" ||
		r.Header.Get("Openai-Beta") == "" || r.Header.Get("Openai-Organization") != "" || r.Header.Get("Sec-Websocket-Extensions") != "" {
		t.Errorf("the upgrade: %s %v", r.URL, r.Header)
	}
}

// TestSocketHeaders has what the endpoint says in its answer come to codex, without the key.
func TestSocketHeaders(t *testing.T) {
	s := newSpeaker(t, func(*websocket.Conn, []byte) error { return nil })
	f, _ := start(t)
	_, res := renewed(t, f, s.url).dial(t)
	if state := res.Header.Get("X-Codex-Turn-State"); !strings.HasPrefix(state, "sticky Bearer **") || strings.Contains(state, key) {
		t.Errorf("the header has %q", state)
	}
}

// TestSocketIsForCodexOnly has strangers refused.
func TestSocketIsForCodexOnly(t *testing.T) {
	s := newSpeaker(t, func(*websocket.Conn, []byte) error { return nil })
	f, _ := start(t)
	base, _, err := f.Renew(Target{URL: s.url, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	before := renewed(t, f, s.url)
	now := renewed(t, f, s.url)
	for _, c := range []caller{{base, "guessed"}, before} {
		if conn, res := c.dial(t); conn != nil || res.StatusCode != http.StatusForbidden {
			t.Errorf("%q: %s", c.token, res.Status)
		}
	}
	if upgrades, _ := s.seen(); len(upgrades) != 0 {
		t.Error("an endpoint was asked")
	}
	now.open(t)
}

// TestQuotedKeyInMessages has an endpoint quote the key in messages of all kinds.
func TestQuotedKeyInMessages(t *testing.T) {
	long := strings.Repeat("x", laneBytes-10) + key + strings.Repeat("y", 3*laneBytes)
	answers := []string{
		`{"type":"response.output_text.delta","delta":"` + key + `"}`,
		`{"error":{"message":"` + key + `"},"type":"error","status":401}`, long,
	}
	s := newSpeaker(t, func(conn *websocket.Conn, _ []byte) error {
		for _, answer := range answers {
			if err := say(conn, answer); err != nil {
				return err
			}
		}
		return conn.Close(websocket.StatusPolicyViolation, key)
	})
	f, _ := start(t)
	c := renewed(t, f, s.url).open(t)
	if err := say(c, "words"); err != nil {
		t.Fatal(err)
	}
	for _, answer := range answers {
		got, err := hearOn(t, c)
		if want := strings.ReplaceAll(answer, key, strings.Repeat("*", len(key))); err != nil || got != want {
			t.Errorf("%.60q: %v, %.60q", answer, err, got)
		}
	}
	var closed websocket.CloseError
	if _, err := hearOn(t, c); !errors.As(err, &closed) || closed.Code != websocket.StatusPolicyViolation || strings.Contains(closed.Reason, key) {
		t.Errorf("closed: %v", err)
	}
}

// TestShortKeyInMessages has the words of a model stay what they are, and errors not.
func TestShortKeyInMessages(t *testing.T) {
	s := newSpeaker(t, func(conn *websocket.Conn, text []byte) error { return say(conn, string(text)) })
	f, _ := start(t)
	base, token, err := f.Renew(Target{URL: s.url, Key: "ollama"})
	if err != nil {
		t.Fatal(err)
	}
	c := caller{base, token}.open(t)
	long := strings.Repeat("x", laneBytes)
	for text, want := range map[string]string{
		`{"type":"response.output_text.delta","delta":"ollama"}`:                              `{"type":"response.output_text.delta","delta":"ollama"}`,
		`{"type":"error","error":{"message":"` + long + `ollama"}}`:                           `{"type":"error","error":{"message":"` + long + `******"}}`,
		`{"status":401,"error":{"message":"` + long + `ollama"},"type":"error"}`:              `{"status":401,"error":{"message":"` + long + `******"},"type":"error"}`,
		`{"type": "error","error":{"message":"` + long + `ollama"}}`:                          `{"type": "error","error":{"message":"` + long + `******"}}`,
		`{"id":1,"response":{"error":"` + long + `ollama"},"type":"x"}`:                       `{"id":1,"response":{"error":"` + long + `ollama"},"type":"x"}`,
		`{"type":"error","status":401,"error":{"message":"ollama"}}`:                          `{"type":"error","status":401,"error":{"message":"******"}}`,
		`{"error":{"message":"ollama","code":"invalid_api_key"},"status":401,"type":"error"}`: `{"error":{"message":"******","code":"invalid_api_key"},"status":401,"type":"error"}`,
	} {
		if err := say(c, text); err != nil {
			t.Fatal(err)
		}
		if got, err := hearOn(t, c); err != nil || got != want {
			t.Errorf("%.80s: %.80s, %v", text, got, err)
		}
	}
}

// TestRenewClosesSockets has those of the codex before closed.
func TestRenewClosesSockets(t *testing.T) {
	s := newSpeaker(t, func(conn *websocket.Conn, text []byte) error { return say(conn, string(text)) })
	f, _ := start(t)
	before := renewed(t, f, s.url).open(t)
	after := renewed(t, f, s.url).open(t)
	if _, err := hearOn(t, before); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("before: %v", err)
	}
	if err := say(after, "words"); err != nil {
		t.Fatal(err)
	}
	if got, err := hearOn(t, after); got != "words" {
		t.Errorf("after: %q, %v", got, err)
	}
}

// TestAnswersWithoutEndOnASocket has an endpoint that goes on and on, and one whose error does.
func TestAnswersWithoutEndOnASocket(t *testing.T) {
	piece := `{"type":"response.output_text.delta","delta":"` + strings.Repeat("x", 1<<20) + `"}`
	for name, goOn := range map[string]func(conn *websocket.Conn) error{
		"events": func(conn *websocket.Conn) error { return say(conn, piece) },
		"error": func(conn *websocket.Conn) error {
			return say(conn, `{"type":"error","status":400,"error":{"message":"`+strings.Repeat("x", mostRefusal)+`"}}`)
		},
		"message": func(conn *websocket.Conn) error { return say(conn, strings.Repeat("x", mostMessage+1)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSpeaker(t, func(conn *websocket.Conn, _ []byte) error {
				for range 2 * mostAnswer >> 20 {
					if err := goOn(conn); err != nil {
						return err
					}
				}
				return nil
			})
			f, _ := start(t)
			c := renewed(t, f, s.url).open(t)
			if err := say(c, "words"); err != nil {
				t.Fatal(err)
			}
			all := 0
			for {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				_, r, err := c.Reader(ctx)
				if err == nil {
					var n int64
					n, err = io.Copy(io.Discard, r)
					all += int(n)
				}
				cancel()
				if err != nil {
					if all > mostAnswer || errors.Is(err, context.DeadlineExceeded) || name == "error" && all > mostRefusal {
						t.Errorf("%d bytes, and %v", all, err)
					}
					return
				}
			}
		})
	}
}

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
	for name, odd := range oddities() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			upgrades := make(chan string, 10)
			url := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Upgrade") == "" {
					return
				}
				upgrades <- r.URL.Path
				odd(w, r)
			})
			f, log := start(t)
			c := renewed(t, f, url)
			for range 3 {
				if conn, res := c.dial(t); conn != nil || res.StatusCode != http.StatusUpgradeRequired {
					t.Fatalf("%s: %s", res.Status, log)
				}
			}
			if n := len(upgrades); n < 1 || n > 2 { // one that is cut was perhaps on a connection that had ended
				t.Errorf("asked %d times", len(upgrades))
			}
		})
	}
}

// oddities are what endpoints do with an upgrade that they do not take.
func oddities() map[string]http.HandlerFunc {
	all := map[string]http.HandlerFunc{
		"page":    func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>"+key+"</html>") },
		"endless": func(w http.ResponseWriter, r *http.Request) { w.(http.Flusher).Flush(); <-r.Context().Done() },
		"elsewhere": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		},
		"silence": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"cut":     spoken(""), "no HTTP": spoken(key + "\r\n\r\n"), "half": spoken("HTTP/1.1 101 "),
		"another key":      spoken("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + key + "\r\n\r\n"),
		"another protocol": spoken("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n"),
	}
	for _, status := range []int{200, 204, 400, 401, 403, 404, 405, 426, 429, 500, 501, 502, 503, 504} {
		all[fmt.Sprint(status)] = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
	}
	return all
}

// spoken answers by bytes, and closes.
func spoken(answer string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(conn, answer)
		_ = conn.Close()
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
					spoken("")(w, r)
				default:
					w.WriteHeader(status)
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

// TestMuteSockets has an endpoint take upgrades, and say nothing by them.
func TestMuteSockets(t *testing.T) {
	s := newSpeaker(t, func(*websocket.Conn, []byte) error { return errors.New("no") })
	f, _ := start(t)
	c := renewed(t, f, s.url)
	for range mostMute {
		conn := c.open(t)
		if err := say(conn, "words"); err != nil {
			t.Fatal(err)
		}
		if _, err := hearOn(t, conn); err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it has ended by %v", err)
		}
	}
	waitFor(t, func() bool {
		conn, res := c.dial(t)
		return conn == nil && res.StatusCode == http.StatusUpgradeRequired
	})
}

// TestInterruptedSockets has codex leave before the first word of an answer: the endpoint is not mute.
func TestInterruptedSockets(t *testing.T) {
	heard := make(chan bool, 1)
	s := newSpeaker(t, func(*websocket.Conn, []byte) error { heard <- true; return nil })
	f, _ := start(t)
	c := renewed(t, f, s.url)
	for range 2 * mostMute {
		conn := c.open(t)
		if err := say(conn, "words"); err != nil {
			t.Fatal(err)
		}
		<-heard
		_ = conn.CloseNow()
		waitFor(t, func() bool {
			f.sockets.mu.Lock()
			defer f.sockets.mu.Unlock()
			return f.sockets.open == 0
		})
	}
	c.open(t)
}

// waitFor waits until something is so.
func waitFor(t *testing.T, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not come")
		}
	}
}

// TestTheOtherSideGoes has either side close, in order or not, and the other hear of it.
func TestTheOtherSideGoes(t *testing.T) {
	gone := make(chan error, 1)
	s := newSpeaker(t, func(conn *websocket.Conn, text []byte) error {
		if bytes.Equal(text, []byte("hello")) {
			return say(conn, "hello")
		}
		if bytes.Equal(text, []byte("go")) {
			return conn.Close(websocket.StatusServiceRestart, "later")
		}
		if bytes.Equal(text, []byte("die")) {
			return errors.New("at once")
		}
		_, _, err := conn.Read(context.Background())
		gone <- err
		return err
	})
	f, _ := start(t)
	c := renewed(t, f, s.url)
	greeted := func() *websocket.Conn { // one of which nothing is heard is held against the endpoint
		conn := c.open(t)
		if err := say(conn, "hello"); err != nil {
			t.Fatal(err)
		}
		if got, err := hearOn(t, conn); got != "hello" {
			t.Fatalf("%q, %v", got, err)
		}
		return conn
	}
	for text, want := range map[string]websocket.StatusCode{"go": websocket.StatusServiceRestart, "die": websocket.StatusGoingAway} {
		conn := greeted()
		if err := say(conn, text); err != nil {
			t.Fatal(err)
		}
		if _, err := hearOn(t, conn); websocket.CloseStatus(err) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, end := range []func(*websocket.Conn){
		func(conn *websocket.Conn) { _ = conn.Close(websocket.StatusNormalClosure, "") }, func(conn *websocket.Conn) { _ = conn.CloseNow() },
	} {
		conn := greeted()
		if err := say(conn, "wait"); err != nil {
			t.Fatal(err)
		}
		waitFor(t, func() bool { _, heard := s.seen(); return len(heard) > 0 && heard[len(heard)-1] == "wait" })
		end(conn)
		select {
		case err := <-gone:
			if err == nil {
				t.Error("it goes on")
			}
		case <-time.After(patience):
			t.Error("the endpoint does not hear of it")
		}
	}
}

// TestWithoutAKey has an endpoint that wants none asked without.
func TestWithoutAKey(t *testing.T) {
	var mu sync.Mutex
	asked := map[string]http.Header{}
	url := endpoint(t, func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked[r.Method] = r.Header
	})
	f, _ := start(t)
	base, token, err := f.Renew(Target{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	caller{base, token}.dial(t)
	ask(t, base+"/responses", "Bearer "+token)
	mu.Lock()
	defer mu.Unlock()
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if h, ok := asked[method]; !ok || h["Authorization"] != nil {
			t.Errorf("%s: asked %v with %v", method, ok, h)
		}
	}
}
