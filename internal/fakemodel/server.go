package fakemodel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

const (
	maxBody     = 256 << 20 // codex sends the whole history each time
	maxRecorded = 64 << 20  // bytes of bodies kept by a server for tests
	maxDrops    = 1024      // drops that wait to be read from Server.Dropped
)

// An Outcome is how an answer ended.
type Outcome string

// How an answer ended; empty while it goes on.
const (
	Completed Outcome = "completed"
	Failed    Outcome = "failed"  // by Turn.Fail or Turn.FailStream
	Cut       Outcome = "cut"     // by Turn.Drop
	Dropped   Outcome = "dropped" // codex closed the connection, or the server was closed
	// Interrupted: codex asked for the end of it, by a WebSocket.
	Interrupted Outcome = "interrupted"
)

// A Recorded is a request that a server answered or is answering.
type Recorded struct {
	Request
	Seq     int       // counts from 1
	Arrived time.Time // when it had been read
	Outcome Outcome   // Completed, Failed, Cut, Dropped, Interrupted, or empty while it goes on
}

// A Server answers the requests of codex. Make one with [New].
type Server struct {
	mux   *http.ServeMux
	keep  int // bytes of bodies kept as records; 0 if it records nothing
	drops chan Recorded

	mu       sync.Mutex // guards the fields below
	script   Script
	overHTTP bool // no WebSocket is taken
	goesOn   bool // with answers that codex interrupts
	seq      int
	recorded []*Recorded
	kept     int // bytes of bodies in recorded
}

// New returns a server for tests: it answers with script and records what it
// is asked, the oldest requests giving way once their bodies exceed 64 MiB.
func New(script Script) *Server { return newServer(script, maxRecorded) }

func newServer(script Script, keep int) *Server {
	s := &Server{mux: http.NewServeMux(), script: script, keep: keep, drops: make(chan Recorded, maxDrops)}
	s.mux.HandleFunc("POST /v1/responses", s.respond)
	s.mux.HandleFunc("GET /v1/responses", s.speak)
	s.mux.HandleFunc("POST /v1/images/generations", paint)
	s.mux.HandleFunc("GET /v1/models", listModels)
	return s
}

// SetScript replaces the script for the requests that come from now on.
func (s *Server) SetScript(script Script) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = script
}

// OverHTTP has the server take no WebSocket, of those that come from now on.
func (s *Server) OverHTTP() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.overHTTP = true
}

func (s *Server) takesSockets() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.overHTTP
}

// GoOn has the server know of no interruption: it goes on with its answer, as an endpoint may that
// speaks by WebSockets and is not OpenAI's.
func (s *Server) GoOn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.goesOn = true
}

func (s *Server) heedsInterruptions() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.goesOn
}

// Requests returns the requests so far, oldest first.
func (s *Server) Requests() []Recorded {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Recorded, len(s.recorded))
	for i, r := range s.recorded {
		list[i] = *r
	}
	return list
}

// Dropped tells of each request whose connection codex closed before the
// answer was complete. It is a queue of 1024: what does not fit is not told,
// but stands in [Server.Requests].
func (s *Server) Dropped() <-chan Recorded { return s.drops }

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

func (s *Server) respond(w http.ResponseWriter, r *http.Request) {
	request, err := readRequest(w, r)
	if err != nil {
		http.Error(w, marshal(map[string]any{"error": map[string]any{"message": err.Error()}}), http.StatusBadRequest)
		return
	}
	script, rec := s.accept(request)
	turn := &Turn{Request: request, Seq: rec.Seq, ctx: r.Context(), sink: newStream(w), usage: usage{10, 5}}
	defer turn.sink.end()
	script(turn)
	how := turn.finish()
	s.settle(rec, how)
	if how == Cut || how == Dropped {
		panic(http.ErrAbortHandler) // net/http's way to close a connection within a body
	}
}

func readRequest(w http.ResponseWriter, r *http.Request) (Request, error) {
	if enc := r.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return Request{}, fmt.Errorf("the scripted model reads no %s; turn the compression of requests off", enc)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return Request{}, fmt.Errorf("read the request of codex: %w", err)
	}
	return parseRequest(r.Header, body)
}

func (s *Server) accept(request Request) (Script, *Recorded) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq++
	rec := &Recorded{Request: request, Seq: s.seq, Arrived: time.Now()}
	if s.keep > 0 {
		s.recorded = append(s.recorded, rec)
		s.kept += len(request.Body)
		for s.kept > s.keep && len(s.recorded) > 1 {
			s.kept -= len(s.recorded[0].Body)
			s.recorded = s.recorded[1:]
		}
	}
	return s.script, rec
}

// finish completes the answer unless the script, or codex, ended it otherwise.
func (t *Turn) finish() Outcome {
	if t.broken != "" {
		return t.broken
	}
	switch cause := context.Cause(t.ctx); {
	case errors.Is(cause, errInterrupted):
		t.interrupted()
		return Interrupted
	case cause != nil:
		return Dropped
	}
	t.complete()
	return Completed
}

func (s *Server) settle(rec *Recorded, how Outcome) {
	s.mu.Lock()
	rec.Outcome = how
	told := *rec
	s.mu.Unlock()
	if how != Dropped || s.keep == 0 {
		return
	}
	select {
	case s.drops <- told:
	default:
	}
}

func listModels(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"object":"list","data":[],"models":[]}`)
}
