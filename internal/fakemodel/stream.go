package fakemodel

import (
	"bufio"
	"maps"
	"net/http"
	"sync"
	"time"
)

const (
	// flushEvery bounds how long an event waits in the buffer. An event that
	// follows a pause is sent at once; in a burst the rest share a write, which
	// is what lets a script stream some 10^5 deltas a second.
	flushEvery = time.Millisecond
	bufferSize = 64 << 10
)

// A stream writes server-sent events. The headers go out with the first event,
// so that a script may still answer with a plain HTTP error before it.
type stream struct {
	mu      sync.Mutex // guards all below; the timer flushes from its own goroutine
	w       http.ResponseWriter
	out     *bufio.Writer
	opened  bool
	ended   bool // nothing may be written any more: the handler has returned or is about to
	flushed time.Time
	timer   *time.Timer // nil unless a flush is due
}

func newStream(w http.ResponseWriter) *stream {
	return &stream{w: w, out: bufio.NewWriterSize(w, bufferSize)}
}

// send writes one event. kind must stand in data as its type, too.
func (s *stream) send(kind string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.openLocked()
	// Errors are sticky in the buffer, and show in the request's context.
	_, _ = s.out.WriteString("event: ")
	_, _ = s.out.WriteString(kind)
	_, _ = s.out.WriteString("\ndata: ")
	_, _ = s.out.Write(data)
	_, _ = s.out.WriteString("\n\n")
	s.scheduleLocked()
}

func (s *stream) openLocked() {
	if s.opened {
		return
	}
	s.opened = true
	s.w.Header().Set("Content-Type", "text/event-stream")
	s.w.Header().Set("Cache-Control", "no-cache")
	s.w.WriteHeader(http.StatusOK)
}

func (s *stream) scheduleLocked() {
	if s.timer != nil {
		return
	}
	due := flushEvery - time.Since(s.flushed)
	if due <= 0 {
		s.flushLocked()
		return
	}
	s.timer = time.AfterFunc(due, s.flushDue)
}

func (s *stream) flushDue() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer = nil
	if !s.ended {
		s.flushLocked()
	}
}

func (s *stream) flushLocked() {
	_ = s.out.Flush()
	_ = http.NewResponseController(s.w).Flush()
	s.flushed = time.Now()
}

// flush sends what waits in the buffer.
func (s *stream) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened && !s.ended {
		s.flushLocked()
	}
}

// end sends what waits and makes every later send a no-op.
func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	if s.opened && !s.ended {
		s.flushLocked()
	}
	s.ended = true
}

// fail answers with an HTTP error, if nothing was sent yet. It reports whether it did.
func (s *stream) fail(status int, body []byte, header http.Header) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened || s.ended {
		return false
	}
	s.opened, s.ended = true, true
	maps.Copy(s.w.Header(), header)
	s.w.Header().Set("Content-Type", "application/json")
	s.w.WriteHeader(status)
	_, _ = s.w.Write(body)
	return true
}

func (s *stream) isOpen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}
