package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestRoomForBodies: large bodies that come at once share a room, small ones need none, and
// a sender who goes away makes room again.
func TestRoomForBodies(t *testing.T) {
	s := newServer(t, Config{MaxBody: 1 << 20, MaxReading: 1 << 20})
	ts := httptest.NewServer(s.Handler())
	t.Cleanup(ts.Close)
	large := func() (status int, after, said string) {
		t.Helper()
		res, err := http.Post(ts.URL+"/", "application/json", strings.NewReader(strings.Repeat(" ", 900<<10)+`{"jsonrpc":"2.0","id":1,"method":"none"}`))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		text, _ := io.ReadAll(res.Body)
		return res.StatusCode, res.Header.Get("Retry-After"), string(text)
	}
	if status, _, said := large(); status != http.StatusOK || !strings.Contains(said, "-32601") {
		t.Fatalf("alone: %d %s", status, said)
	}
	slow, err := net.Dial("tcp", ts.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = slow.Close() }()
	_, _ = fmt.Fprintf(slow, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", 900<<10, strings.Repeat(" ", 500<<10))
	waitRoom(t, s, func(left int64) bool { return left < 700<<10 })
	status, after, said := large()
	if status != http.StatusServiceUnavailable || after != "1" || !strings.Contains(said, "too many large requests come at once") {
		t.Errorf("beside a slow one: %d %q %s", status, after, said)
	}
	small, err := http.Post(ts.URL+"/", "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"none"}`))
	if err != nil || small.StatusCode != http.StatusOK {
		t.Errorf("a small one: %v, %v", small, err)
	} else {
		_ = small.Body.Close()
	}
	_, _ = io.WriteString(slow, strings.Repeat(" ", 400<<10))
	if res, err := http.ReadResponse(bufio.NewReader(slow), nil); err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("the slow one: %v, %v", res, err)
	}
	waitRoom(t, s, func(left int64) bool { return left == 1<<20 })

	gone, err := net.Dial("tcp", ts.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = fmt.Fprintf(gone, "POST /message:send HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n7d000\r\n%s", strings.Repeat(" ", 500<<10))
	waitRoom(t, s, func(left int64) bool { return left < 700<<10 })
	_ = gone.Close()
	waitRoom(t, s, func(left int64) bool { return left == 1<<20 })
}

// TestRoomsAsTheyAre without settings.
func TestRoomsAsTheyAre(t *testing.T) {
	s := newServer(t, Config{})
	if s.cfg.MaxBody != 16<<20 || s.bodies.Room.Left() != 64<<20 || s.answers.Room.Left() != 64<<20 {
		t.Errorf("a body has %d bytes, all of them %d, answers %d", s.cfg.MaxBody, s.bodies.Room.Left(), s.answers.Room.Left())
	}
}

// TestSlownessAsItIs without settings: a body has a minute, a header 10 s.
func TestSlownessAsItIs(t *testing.T) {
	for _, c := range []struct {
		sent string
		most time.Duration
	}{
		{"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{", time.Minute},
		{"POST / HTTP/1.1\r\nHost:", 10 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			conn, err := serveInBubble(t, Config{}).dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			begin := time.Now()
			go func() { _, _ = io.WriteString(conn, c.sent) }()
			_, _ = io.ReadAll(conn) // an answer, or none
			if took := time.Since(begin); took != c.most {
				t.Errorf("%q: the connection ends after %v, want %v", c.sent, took, c.most)
			}
		})
	}
}

// waitRoom waits until the room is as wanted.
func waitRoom(t *testing.T, s *Server, wanted func(left int64) bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		left := s.bodies.Room.Left()
		if wanted(left) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes are left", left)
		}
		time.Sleep(time.Millisecond)
	}
}
