package forward

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

const (
	// mostMessage is the longest message that codex takes (0.169.0).
	mostMessage = 64 << 20
	// stalledTime is how long a piece of a message may take to come or to go on.
	stalledTime = time.Minute
	// Proxies and endpoints close connections that are idle, few of them after less than half a minute.
	// A pong that has not come after pongTime tells a connection that has died without a word.
	pingEvery = 15 * time.Second
	pongTime  = 15 * time.Second
	// idleTime is how long a connection without a message is kept.
	idleTime = time.Hour
)

// A relay is a WebSocket of codex's, and the one of the endpoint that it leads to.
type relay struct {
	codex, endpoint *websocket.Conn
	to              destination
	log             *slog.Logger

	asks, answers lane
	talk          *talk
	cut           func() error // ends codex's connection, whatever its close handshake waits for
	noteUse       func()       // of the way to the endpoint
	last          atomic.Int64 // when a message last went on, in ns of the clock
}

func (f *Forwarder) relay(codex, endpoint *websocket.Conn, to destination, first Call) *relay {
	s := &relay{
		codex: codex, endpoint: endpoint, to: to, cut: codex.CloseNow, noteUse: f.noteUse, log: f.log.With("host", to.url.Host),
		talk: &talk{recorder: &recorder{tell: f.tell}, next: first, left: mostAnswer, spoke: to.sockets.spoke},
	}
	s.asks = lane{from: codex, to: endpoint, heed: s.talk.ask, gone: func() { s.talk.recorder.sent(); s.wentOn() }}
	s.answers = lane{from: endpoint, to: codex, secret: to.secret, heed: s.talk.answer, gone: s.wentOn}
	codex.SetReadLimit(mostMessage)
	endpoint.SetReadLimit(mostMessage)
	s.wentOn()
	return s
}

// wentOn notes that a message has gone on.
func (s *relay) wentOn() {
	s.last.Store(time.Now().UnixNano())
	s.noteUse()
}

// run carries messages both ways until one side closes, dies or stalls, or ctx ends.
func (s *relay) run(ctx context.Context) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	s.talk.ignored = func() bool {
		if s.answers.busy() { // it may be the next word
			return true
		}
		s.log.Info("a WebSocket to the model's endpoint is closed: an answer that codex has interrupted goes on")
		end()
		return false
	}
	defer s.talk.heeded()
	var both sync.WaitGroup
	var parted atomic.Bool // the endpoint's has ended, by itself
	both.Go(func() {
		defer end()
		_ = s.asks.run() // the endpoint is told no more
	})
	both.Go(func() {
		defer end()
		reason := s.answers.run()
		parted.Store(true)
		s.talk.heeded()
		s.part(reason)
	})
	dead := s.keep(ctx)
	left := !dead && !parted.Load()
	_ = s.cut()
	_ = s.codex.CloseNow()
	_ = s.endpoint.CloseNow()
	both.Wait()
	s.talk.recorder.end(0)
	if s.talk.mute(left) {
		s.muted()
	}
}

// muted notes that the endpoint had nothing to say.
func (s *relay) muted() {
	if rest := s.to.sockets.ended(); rest > 0 {
		s.log.Info("the model's endpoint is asked over HTTP: it takes WebSockets, and says nothing by them", "again_after", rest)
	}
}

// keep watches over the sockets until they are to be closed, and reports whether they were dead.
func (s *relay) keep(ctx context.Context) (dead bool) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
		if !s.alive(ctx) {
			return ctx.Err() == nil
		}
	}
}

// alive reports whether the sockets are still good for something. It waits for a pong at most until ctx ends.
func (s *relay) alive(ctx context.Context) bool {
	if s.asks.stalls() || s.answers.stalls() {
		s.log.Warn("a WebSocket to the model's endpoint is closed: a message does not go on", "for", stalledTime)
		return false
	}
	quiet := time.Since(time.Unix(0, s.last.Load()))
	switch {
	case quiet > idleTime:
		return false
	case quiet < pingEvery/2, s.busy():
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, pongTime)
	defer cancel()
	err := s.endpoint.Ping(ctx)
	if err == nil || s.busy() {
		return true
	}
	s.log.Debug("a WebSocket to the model's endpoint has died", "err", err)
	return false
}

// busy reports whether a message is on its way: a ping would go, or its pong come, behind it.
func (s *relay) busy() bool { return s.asks.busy() || s.answers.busy() }

// part closes codex's socket for the reason for which that of the endpoint has ended.
func (s *relay) part(reason error) {
	var closed websocket.CloseError
	switch {
	case errors.As(reason, &closed) && closed.Code != websocket.StatusNoStatusRcvd:
		_ = s.codex.Close(closed.Code, s.to.secret.text(closed.Reason))
	case errors.As(reason, &closed):
		_ = s.codex.Close(websocket.StatusNormalClosure, "")
	case errors.Is(reason, websocket.ErrMessageTooBig), errors.Is(reason, errLong):
		s.log.Warn("a WebSocket to the model's endpoint is closed: an answer is longer than any model's")
		_ = s.codex.Close(websocket.StatusMessageTooBig, "the answer is longer than any model's")
	case errors.Is(reason, io.ErrUnexpectedEOF): // see unended
		_ = s.codex.Close(websocket.StatusGoingAway, "the model's endpoint has gone")
	default:
		_ = s.codex.CloseNow()
	}
}
