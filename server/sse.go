package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// A framing gives the events of a stream the shape of its binding.
type framing interface {
	event(a2a.Event) (any, error)
	failure(error) any // as an event
	// refuse answers with an error in place of the stream.
	refuse(http.ResponseWriter, error)
	// early says that the stream begins before its first event, so that even an
	// error at once is an event.
	early() bool
}

// rpcFraming is the SSE of JSON-RPC. Clients of 0.3 expect a stream even if it
// holds nothing but an error, clients of 1.0 an ordinary answer.
type rpcFraming struct{ call rpcCall }

func (f rpcFraming) early() bool { return f.call.v0 }

func (f rpcFraming) event(e a2a.Event) (any, error) {
	result, err := f.call.method.frame(e)
	return response{JSONRPC: "2.0", ID: f.call.id, Result: result}, err
}

func (f rpcFraming) failure(err error) any {
	return errorResponse{JSONRPC: "2.0", ID: f.call.id, Error: toRPC(err, f.call.v0)}
}

func (f rpcFraming) refuse(w http.ResponseWriter, err error) {
	writeRPCError(w, http.StatusOK, f.call, err)
}

// An sseWriter writes one stream. Its lock makes events and keep-alive comments
// take turns.
type sseWriter struct {
	rc *http.ResponseController

	mu    sync.Mutex // guards the fields below
	w     http.ResponseWriter
	buf   bytes.Buffer
	begun bool
	err   error // of the first write that failed; nothing is written after it
}

// serveStream writes events until they end, one cannot be written, or the
// request ends. A reader that stalls fails a write at its deadline, which ends
// the events' context with the request's.
func (s *Server) serveStream(w http.ResponseWriter, r *http.Request, events Events, f framing) {
	s.metrics.streams.Inc()
	defer s.metrics.streams.Dec()
	out := &sseWriter{w: w, rc: http.NewResponseController(w)}
	if f.early() {
		out.begin()
	}
	stop := out.keepAlive(s.cfg.KeepAlive)
	defer stop()
	err := s.pumpStream(r.Context(), out, events, f)
	if err != nil && !out.hasBegun() {
		stop()
		f.refuse(w, err)
		return
	}
	if err != nil {
		_ = out.send(f.failure(err))
	}
	if errors.Is(out.finish(), os.ErrDeadlineExceeded) { // any other error is a reader that has left
		s.metrics.dropped.Inc()
		s.log.InfoContext(r.Context(), "stalled stream reader dropped", slog.String("request_id", requestID(r.Context())))
	}
}

// pumpStream returns the error that is still to be told to the reader.
func (s *Server) pumpStream(ctx context.Context, out *sseWriter, events Events, f framing) (err error) {
	defer s.guard.rescue(ctx, "stream", &err)
	for e, err := range events {
		var frame any
		if err == nil {
			frame, err = f.event(e)
		}
		if err != nil {
			return s.guard.public(ctx, "stream", err)
		}
		if err := out.send(frame); err != nil {
			if out.broken() {
				return nil
			}
			return s.guard.public(ctx, "stream", err)
		}
	}
	return nil
}

// begin writes the header.
func (o *sseWriter) begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.beginLocked()
	o.flushLocked()
}

func (o *sseWriter) beginLocked() {
	if o.begun {
		return
	}
	o.begun = true
	h := o.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	o.w.WriteHeader(http.StatusOK)
}

// send writes v as one event. An event is one line of JSON, so one data field
// holds it.
func (o *sseWriter) send(v any) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf.Reset()
	o.buf.WriteString("data: ")
	enc := json.NewEncoder(&o.buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	o.buf.WriteByte('\n')
	o.writeLocked(o.buf.Bytes())
	return o.err
}

func (o *sseWriter) writeLocked(p []byte) {
	if o.err != nil {
		return
	}
	o.beginLocked()
	if _, o.err = o.w.Write(p); o.err == nil {
		o.flushLocked()
	}
}

func (o *sseWriter) flushLocked() {
	if err := o.rc.Flush(); o.err == nil {
		o.err = err
	}
}

// keepAlive writes a comment every interval. The returned function ends that
// and waits for it; it may be called twice.
func (o *sseWriter) keepAlive(interval time.Duration) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				o.mu.Lock()
				o.writeLocked([]byte(": keep-alive\n\n"))
				o.mu.Unlock()
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(quit)
		<-done
	})
}

func (o *sseWriter) hasBegun() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.begun
}

func (o *sseWriter) broken() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err != nil
}

// finish begins a stream that had no events at all, and returns the error that
// cut it.
func (o *sseWriter) finish() error {
	o.begin()
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
