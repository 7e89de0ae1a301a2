package binding

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/server/bounds"
	"github.com/Molecule-AI/molecule-codex-runtime/server/guard"
	"github.com/Molecule-AI/molecule-codex-runtime/server/respond"
	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/feed"
)

const eventStream = "text/event-stream"

// lastEventID names the last event that the caller of a stream has seen, if it
// comes back. Whether it is one is for the handler to say.
func lastEventID(r *http.Request) string { return r.Header.Get("Last-Event-Id") }

// serveStream writes events until they end, one cannot be written, or the
// request ends. A reader that stalls fails a write at its deadline, which ends
// the events' context with the request's.
func (b *Bindings) serveStream(w http.ResponseWriter, r *http.Request, open func() guard.Events, f *framing) {
	b.cfg.Metrics.StreamOpened()
	defer b.cfg.Metrics.StreamClosed()
	out := &sseWriter{w: w, rc: http.NewResponseController(w)}
	if f.early {
		out.begin()
	}
	stop := out.keepAlive(b.firstComment(r), b.cfg.KeepAlive)
	defer stop()
	err := b.pumpStream(r.Context(), out, open, f)
	stop()
	switch begun := out.hasBegun(); {
	case err != nil && !begun:
		f.refuse(w, err)
		return
	case err != nil:
		_ = out.failure(f, err)
	case !begun && f.nothing:
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if errors.Is(out.finish(), os.ErrDeadlineExceeded) { // any other error is a reader that has left
		b.cfg.Metrics.StreamDropped()
		b.log.InfoContext(r.Context(), "stalled stream reader dropped", slog.String("request_id", respond.RequestID(r.Context())))
	}
}

func (b *Bindings) firstComment(r *http.Request) time.Duration {
	if lastEventID(r) == "" {
		return b.cfg.KeepAlive
	}
	return min(b.OpenWithin, b.cfg.KeepAlive)
}

// pumpStream returns the error that is still to be told to the reader.
func (b *Bindings) pumpStream(ctx context.Context, out *sseWriter, open func() guard.Events, f *framing) (err error) {
	defer b.guard.Rescue(ctx, "stream", &err)
	part := bounds.AnsweringOf(ctx)
	defer part.Done() // the reader may take long to hear the error
	for e, err := range open() {
		var data []byte
		if err == nil {
			data, err = encodeEvent(ctx, part, e, f)
		}
		if err != nil {
			return b.guard.Public(ctx, "stream", err)
		}
		holds := e.Holds
		if out.event(e.ID, f.head, data, f.tail) != nil {
			return nil
		}
		part.Written(holds)
	}
	return nil
}

// encodeEvent encodes an event. One that is made for its reader alone, as the whole task and
// what is replayed, is bounded as answers are.
func encodeEvent(ctx context.Context, part *bounds.Answering, e *feed.Event, f *framing) ([]byte, error) {
	encode := func() ([]byte, error) { return e.Encoded(f.form.Name, f.form.Encode) }
	if e.Shared {
		return encode()
	}
	return part.Make(ctx, e.Holds, encode)
}

// An sseWriter writes one stream. Its lock makes events and keep-alive comments
// take turns.
type sseWriter struct {
	rc *http.ResponseController

	mu    sync.Mutex // guards the fields below
	w     http.ResponseWriter
	buf   []byte
	begun bool
	err   error // of the first write that failed; nothing is written after it
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
	h.Set("Content-Type", eventStream)
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	o.w.WriteHeader(http.StatusOK)
}

// smallEvent is up to what size an event is copied to be written in one piece.
const smallEvent = 1 << 10

// event writes one event. Its data is one line of JSON, so one data field holds
// it. An event without an id leaves the reader where it was.
func (o *sseWriter) event(id, head string, data []byte, tail string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	buf := o.buf[:0]
	if id != "" {
		buf = append(buf, "id: "...)
		buf = append(buf, id...)
		buf = append(buf, '\n')
	}
	buf = append(buf, "data: "...)
	buf = append(buf, head...)
	if len(data) <= smallEvent {
		buf = append(buf, data...)
	} else {
		o.writeLocked(buf)
		o.writeLocked(data) // shared with other readers
		buf = buf[:0]
	}
	buf = append(buf, tail...)
	buf = append(buf, "\n\n"...)
	o.writeLocked(buf)
	o.flushLocked()
	o.buf = buf
	return o.err
}

// failure writes an error as an event.
func (o *sseWriter) failure(f *framing, err error) error {
	body, err := wire.Marshal(f.failure(err))
	if err != nil {
		return err
	}
	return o.event("", "", body, "")
}

func (o *sseWriter) writeLocked(p []byte) {
	if o.err != nil {
		return
	}
	o.beginLocked()
	_, o.err = o.w.Write(p) //nolint:gosec // an event stream, and said to be
}

func (o *sseWriter) flushLocked() {
	if o.err == nil {
		o.err = o.rc.Flush()
	}
}

// keepAlive writes a comment after first and then every interval. The returned
// function ends that and waits for it; it may be called twice.
func (o *sseWriter) keepAlive(first, interval time.Duration) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		timer := time.NewTimer(first)
		defer timer.Stop()
		for {
			select {
			case <-quit:
				return
			case <-timer.C:
				o.comment()
				timer.Reset(interval)
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(quit)
		<-done
	})
}

func (o *sseWriter) comment() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writeLocked([]byte(": keep-alive\n\n"))
	o.flushLocked()
}

func (o *sseWriter) hasBegun() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.begun
}

// finish begins a stream that had no events at all, and returns the error that
// cut it.
func (o *sseWriter) finish() error {
	o.begin()
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
