package forward

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
)

// pair is a WebSocket in memory, by both of its ends.
func pair(t *testing.T) (client, server *websocket.Conn) {
	t.Helper()
	near, far := net.Pipe()
	return pairOn(t, near, far, nil)
}

// pairOn is a WebSocket on a connection.
func pairOn(t *testing.T, near, far net.Conn, opts *websocket.AcceptOptions) (client, server *websocket.Conn) {
	t.Helper()
	conns := make(chan net.Conn, 1)
	conns <- far
	accepted := make(chan *websocket.Conn, 1)
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, opts)
		if err != nil {
			t.Error(err)
		}
		accepted <- conn
	})}
	listener := piped{conns, make(chan struct{})}
	go func() { _ = srv.Serve(listener) }()
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return near, nil }}
	client, _, err := websocket.Dial(t.Context(), "http://memory/", &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	server = <-accepted
	_ = srv.Close()
	transport.CloseIdleConnections()
	return client, server
}

// piped is a listener in memory.
type piped struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p piped) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p piped) Close() error   { close(p.closed); return nil }
func (p piped) Addr() net.Addr { return &net.TCPAddr{} }

// A stage has a relay in memory: what is said at one of its ends comes to the other.
type stage struct {
	codex, endpoint *websocket.Conn // the far ends
	sockets         *experience
	calls           []Call
	pings           atomic.Int32 // that the endpoint had
	over            context.CancelFunc
	ended           chan struct{}
	dead            bool // the endpoint answers no ping
}

func newStage(t *testing.T) *stage {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := &stage{sockets: &experience{}, over: cancel, ended: make(chan struct{})}
	codex, near := pair(t)
	toEndpoint, atEndpoint := net.Pipe()
	far, endpoint := pairOn(t, toEndpoint, atEndpoint, &websocket.AcceptOptions{
		OnPingReceived: func(context.Context, []byte) bool {
			s.pings.Add(1)
			return !s.dead
		},
	})
	codex.SetReadLimit(-1)
	s.codex, s.endpoint = codex, endpoint
	f := &Forwarder{log: slog.New(slog.DiscardHandler), tell: func(c Call) { s.calls = append(s.calls, c) }}
	to := destination{secret: newSecret(key), sockets: s.sockets, url: mustParse("https://endpoint.example/v1")}
	r := f.relay(near, far, to, Call{Thread: "t1", Socket: true, Connect: time.Second})
	go func() {
		defer close(s.ended)
		r.run(ctx)
	}()
	t.Cleanup(func() {
		_ = codex.CloseNow()
		_ = endpoint.CloseNow()
		<-s.ended
	})
	return s
}

// reads reads what comes to an end, and answers pings meanwhile.
func reads(conn *websocket.Conn) <-chan string {
	texts := make(chan string, 100)
	go func() {
		defer close(texts)
		for {
			_, text, err := conn.Read(context.Background())
			if err != nil {
				return
			}
			texts <- string(text)
		}
	}()
	return texts
}

// lasts is how long a relay lives from now.
func (s *stage) lasts() time.Duration {
	began := time.Now()
	<-s.ended
	return time.Since(began)
}

// TestKept has the sockets kept by pings while nothing is said, and given up in the end.
func TestKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		reads(s.codex)
		heard := reads(s.endpoint)
		time.Sleep(idleTime / 2)
		if err := say(s.codex, "words"); err != nil {
			t.Fatal(err)
		}
		if got := <-heard; got != "words" {
			t.Errorf("%q", got)
		}
		if lasts := s.lasts(); lasts < idleTime || lasts > idleTime+2*pingEvery {
			t.Errorf("it lasts for %v", lasts)
		}
		if n := int(s.pings.Load()); n < int((idleTime+idleTime/2)/pingEvery)-2 {
			t.Errorf("%d pings", n)
		}
	})
}

// TestDeadEndpoint has an endpoint die without a word: no pong comes.
func TestDeadEndpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		reads(s.codex)
		s.dead = true
		heard := reads(s.endpoint)
		if err := say(s.codex, "words"); err != nil {
			t.Fatal(err)
		}
		<-heard
		if lasts := s.lasts(); lasts > 2*pingEvery+pongTime {
			t.Errorf("it lasts for %v", lasts)
		}
		if s.sockets.mute != 1 {
			t.Error("it is not taken for mute")
		}
	})
}

// TestStalledCodex has codex read nothing of an answer: both are closed.
func TestStalledCodex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		go func() { _ = say(s.endpoint, "this is not read") }()
		if lasts := s.lasts(); lasts < stalledTime || lasts > stalledTime+2*pingEvery {
			t.Errorf("it lasts for %v", lasts)
		}
	})
}

// TestHalfAMessage has an endpoint stop within a message.
func TestHalfAMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		reads(s.codex)
		go func() {
			w, err := s.endpoint.Writer(context.Background(), websocket.MessageText)
			if err == nil {
				_, _ = w.Write(make([]byte, 2*laneBytes)) // which is sent, and no more
			}
		}()
		if lasts := s.lasts(); lasts < stalledTime || lasts > stalledTime+2*pingEvery {
			t.Errorf("it lasts for %v", lasts)
		}
	})
}

// TestSlowReaderIsNoStall has codex take an answer slowly: each message in less than a minute.
func TestSlowReaderIsNoStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		go func() {
			for range 10 {
				if say(s.endpoint, "slowly") != nil {
					return
				}
			}
		}()
		for i := range 10 {
			time.Sleep(stalledTime - 2*pingEvery)
			if _, text, err := s.codex.Read(t.Context()); err != nil || string(text) != "slowly" {
				t.Fatalf("message %d: %q %v", i, text, err)
			}
		}
	})
}

// TestSlowEndpointIsNoStall has an endpoint take a long message slowly: each piece in less than a minute.
func TestSlowEndpointIsNoStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		reads(s.codex)
		go func() { _ = say(s.codex, strings.Repeat("x", 10*laneBytes)) }()
		s.endpoint.SetReadLimit(-1)
		_, message, err := s.endpoint.Reader(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for all := 0; all < 10*laneBytes; {
			time.Sleep(stalledTime / 20)
			n, err := message.Read(make([]byte, laneBytes/10))
			if all += n; err != nil {
				t.Fatalf("after %d bytes: %v", all, err)
			}
		}
	})
}

// TestOverWithinAPing has a relay end while an endpoint does not answer a ping.
func TestOverWithinAPing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		reads(s.codex)
		time.Sleep(pingEvery + time.Second)
		s.over()
		if lasts := s.lasts(); lasts > 0 {
			t.Errorf("it lasts for %v", lasts)
		}
	})
}

// TestOver has a relay end with what it is for.
func TestOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		reads(s.codex)
		go func() { // while a pong is waited for
			time.Sleep(pingEvery + time.Second)
			s.over()
		}()
		if lasts := s.lasts(); lasts != pingEvery+time.Second {
			t.Errorf("it lasts for %v", lasts)
		}
	})
}

// TestCallsOfASocket has each request to the model told of once it has ended.
func TestCallsOfASocket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		heard, answers := reads(s.endpoint), reads(s.codex)
		ask := func(text string) {
			if err := say(s.codex, text); err != nil {
				t.Fatal(err)
			}
			<-heard
		}
		answer := func(after time.Duration, text string) {
			time.Sleep(after)
			if err := say(s.endpoint, text); err != nil {
				t.Fatal(err)
			}
			<-answers
		}
		ask(`{"type":"response.create","input":[],"generate":false}`)
		answer(time.Second, `{"type":"response.completed","response":{"usage":{"output_tokens":0}}}`)
		ask(`{"type":"response.create"}`)
		answer(2*time.Second, `{"type":"response.created"}`)
		answer(3*time.Second, `{"type":"response.output_text.delta","delta":"response.completed"}`)
		answer(2*time.Second, `{"type":"response.completed","response":{"usage":{"input_tokens":7,"output_tokens":20,"total_tokens":27}}}`)
		ask(`{"type":"response.create"}`)
		answer(time.Second, `{"error":{"message":"slower"},"status":429,"type":"error"}`)
		ask(`{"type":"response.create"}`)
		_ = s.codex.CloseNow()
		s.lasts()
		want := []Call{
			{Connect: time.Second, Took: 7 * time.Second, First: 2 * time.Second, Tokens: 20, Status: 200}, // what was shown ahead is none
			{Took: time.Second, First: time.Second, Status: 429}, {},
		}
		if len(s.calls) != len(want) {
			t.Fatalf("%d calls: %+v", len(s.calls), s.calls)
		}
		for i, got := range s.calls {
			if got.Begun.IsZero() || got.Thread != "t1" || !got.Socket {
				t.Errorf("call %d: %+v", i, got)
			}
			got.Begun, got.Thread, got.Socket = time.Time{}, "", false
			if got != want[i] {
				t.Errorf("call %d: %+v, want %+v", i, got, want[i])
			}
		}
	})
}

// TestExperience is what is learned of an endpoint, and for how long.
func TestExperience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &experience{}
		declined := func(what string, rest time.Duration) {
			t.Helper()
			began := time.Now()
			for e.declines() {
				time.Sleep(time.Second)
			}
			if got := time.Since(began); got != rest {
				t.Errorf("%s: none is tried for %v, want %v", what, got, rest)
			}
		}
		declined("unknown", 0)
		for _, status := range []int{0, 401, 403, 429, 500, 503} {
			e.refused(status)
			declined(http.StatusText(status), soonAgain)
		}
		for _, status := range []int{101, 200, 302, 400, 404, 405, 426, 501} {
			e.refused(status)
			declined(http.StatusText(status), askedAgain)
		}
		for range mostMute {
			declined("mute", 0)
			e.ended()
		}
		declined("mute", muteAgain)
		e.ended()
		e.spoke()
		for range 2 * mostMute {
			e.ended()
		}
		declined("cut", 0)
		if !e.speaks() {
			t.Error("it has spoken")
		}
		if e.refused(404); e.speaks() {
			t.Error("it speaks no more")
		}
	})
}

func mustParse(text string) *url.URL {
	u, err := url.Parse(text)
	if err != nil {
		panic(err)
	}
	return u
}
