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
	// pingEvery keeps a connection from those who close idle ones, few of whom wait for less than
	// twice as long, and pongTime tells one that has died without a word.
	pingEvery = 15 * time.Second
	pongTime  = 15 * time.Second
	// idleTime is how long a connection is kept for which there is no use.
	idleTime = time.Hour
)

// A relay is a WebSocket of codex's, and the one of the endpoint that it leads to.
type relay struct {
	codex, endpoint *websocket.Conn
	to              destination
	log             *slog.Logger

	asks, answers lane
	talk          *talk
	uses          func()       // is called when the connection was used
	last          atomic.Int64 // when a message last went on, in ns of the clock
}

func (f *Forwarder) relay(codex, endpoint *websocket.Conn, to destination, first Call) *relay {
	s := &relay{
		codex: codex, endpoint: endpoint, to: to, uses: f.uses, log: f.log.With("host", to.url.Host),
		talk: &talk{recorder: &recorder{tell: f.tell}, next: first, left: mostAnswer, spoke: to.sockets.spoke},
	}
	s.asks = lane{from: codex, to: endpoint, heed: s.talk.ask, gone: func() { s.talk.recorder.sent(); s.used() }}
	s.answers = lane{from: endpoint, to: codex, secret: to.secret, heed: s.talk.answer, gone: s.used}
	codex.SetReadLimit(mostMessage)
	endpoint.SetReadLimit(mostMessage)
	s.used()
	return s
}

// used notes that the sockets are.
func (s *relay) used() {
	s.last.Store(time.Now().UnixNano())
	s.uses()
}

// run carries messages both ways until one side closes, dies or stalls, or over is closed.
func (s *relay) run(over <-chan struct{}) {
	var both sync.WaitGroup
	ended := make(chan struct{}, 2)
	both.Go(func() {
		_ = s.asks.run() // codex has gone, or cannot be handed on: the endpoint is told no more
		ended <- struct{}{}
	})
	both.Go(func() {
		s.part(s.answers.run())
		ended <- struct{}{}
	})
	s.keep(over, ended)
	_ = s.codex.CloseNow()
	_ = s.endpoint.CloseNow()
	both.Wait()
	s.talk.recorder.end(0)
	if s.talk.mute() {
		s.muted()
	}
}

// muted notes that the endpoint had nothing to say.
func (s *relay) muted() {
	if rest := s.to.sockets.ended(); rest > 0 {
		s.log.Info("the model's endpoint is asked over HTTP: it takes WebSockets, and says nothing by them", "again_after", rest)
	}
}

// keep watches over the sockets until they are to be closed.
func (s *relay) keep(over, ended <-chan struct{}) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-over:
			return
		case <-ended:
			return
		case <-tick.C:
		}
		if !s.alive() {
			return
		}
	}
}

// alive reports whether the sockets are still good for something.
func (s *relay) alive() bool {
	if s.asks.stalls() || s.answers.stalls() {
		s.log.Warn("a WebSocket to the model's endpoint is closed: a message does not go on", "for", stalledTime)
		return false
	}
	quiet := time.Since(time.Unix(0, s.last.Load()))
	switch {
	case quiet > idleTime:
		return false
	case quiet < pingEvery/2, s.answers.busy(): // the pong would be read behind the message
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), pongTime)
	defer cancel()
	err := s.endpoint.Ping(ctx)
	if err != nil {
		s.log.Debug("a WebSocket to the model's endpoint has died", "err", err)
	}
	return err == nil
}

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
	case errors.Is(reason, io.EOF):
		_ = s.codex.Close(websocket.StatusGoingAway, "the model's endpoint has gone")
	default:
		_ = s.codex.CloseNow()
	}
}
