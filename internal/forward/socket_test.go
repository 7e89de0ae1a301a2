package forward

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
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
