package link_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/Molecule-AI/molecule-codex-runtime/fleet/link"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// A machine answers each message with itself, and is reached without TLS.
type machine struct {
	*httptest.Server
	seen chan *http.Request
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{seen: make(chan *http.Request, 10)}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.seen <- r
		if r.Header.Get("Authorization") != "Bearer ours" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer conn.CloseNow()
		for {
			kind, text, err := conn.Read(r.Context())
			if err != nil || conn.Write(r.Context(), kind, text) != nil {
				return
			}
		}
	}))
	t.Cleanup(m.Close)
	return m
}

// Dial implements [link.Dialer], as does Sign.
func (m *machine) Dial(ctx context.Context) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", strings.TrimPrefix(m.URL, "http://"))
}

func (m *machine) Sign(r *http.Request) { r.Header.Set("Authorization", "Bearer ours") }

// nowhere is a machine that is gone.
type nowhere struct{}

func (nowhere) Dial(context.Context) (net.Conn, error) { return nil, errors.New("gone") }
func (nowhere) Sign(*http.Request)                     {}

// admits is a keeper that knows of no loss.
type admits struct{}

func (admits) Admit(http.Header) bool { return true }

func listen(t *testing.T, to link.Dialer) *link.Link {
	t.Helper()
	l, err := link.Listen(to, admits{}, "/v1/exec", slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// dial connects as codex does.
func dial(t *testing.T, l *link.Link, token string) (*websocket.Conn, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	conn, answer, err := websocket.Dial(ctx, l.URL(), &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + token}}})
	if err != nil {
		if answer == nil {
			t.Fatal(err)
		}
		return nil, answer.StatusCode
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	return conn, answer.StatusCode
}

// say sends a text and returns the answer.
func say(t *testing.T, conn *websocket.Conn, text string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := conn.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
		return "", err
	}
	_, got, err := conn.Read(ctx)
	return string(got), err
}

// TestCarried: what codex says comes to the machine as the runtime's, and the answer back; codex's own token does not.
func TestCarried(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	l := listen(t, m)
	conn, _ := dial(t, l, l.Token())
	if got, err := say(t, conn, "hello"); got != "hello" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if r := <-m.seen; r.URL.Path != "/v1/exec" || r.Header.Get("Authorization") != "Bearer ours" {
		t.Errorf("the machine was asked %s with %v", r.URL, r.Header)
	}
}

// TestStrangers: only codex has the token, and nothing of the others comes to the machine.
func TestStrangers(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	l := listen(t, m)
	for _, token := range []string{"", "another", l.Token() + "x"} {
		if _, code := dial(t, l, token); code != http.StatusUnauthorized {
			t.Errorf("with %q: %d", token, code)
		}
	}
	if len(m.seen) > 0 {
		t.Error("the machine was asked")
	}
}

// TestRefuses: connections that are there end, and the first request of a new one is refused in the words that were given, until
// that is taken back.
func TestRefuses(t *testing.T) {
	t.Parallel()
	l := listen(t, newMachine(t))
	before, _ := dial(t, l, l.Token())
	if _, err := say(t, before, "hello"); err != nil {
		t.Fatal(err)
	}
	l.Refuse("machine m1 is gone")
	if got, err := say(t, before, "hello"); err == nil {
		t.Errorf("a connection goes on: %q", got)
	}
	refused, _ := dial(t, l, l.Token())
	got, err := say(t, refused, `{"id":7,"method":"initialize","params":{}}`)
	var answer struct {
		ID    int
		Error struct {
			Code    int
			Message string
		}
	}
	if err := errors.Join(err, json.Unmarshal([]byte(got), &answer)); err != nil || answer.ID != 7 || answer.Error.Code != -32001 || answer.Error.Message != "machine m1 is gone" {
		t.Errorf("%s, %v", got, err)
	}
	l.Allow()
	again, _ := dial(t, l, l.Token())
	if got, err := say(t, again, "hello"); got != "hello" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// TestGone: where the machine cannot be reached codex may try again.
func TestGone(t *testing.T) {
	t.Parallel()
	l := listen(t, nowhere{})
	if _, code := dial(t, l, l.Token()); code != http.StatusServiceUnavailable {
		t.Errorf("%d", code)
	}
}
