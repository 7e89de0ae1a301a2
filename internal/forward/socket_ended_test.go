package forward

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/coder/websocket"
)

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
