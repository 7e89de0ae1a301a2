package server

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
)

// A bodyError says why a body could not be read, and with which status.
type bodyError struct {
	status int
	text   string
}

func (e *bodyError) Error() string { return e.text }

// err is what the caller is told.
func (e *bodyError) err() error {
	if e.status == http.StatusServiceUnavailable {
		return a2a.NewError(a2a.ErrServerError, e.text)
	}
	return wire.InvalidRequest("%s", e.text)
}

// head says in the header when to come again.
func (e *bodyError) head(w http.ResponseWriter) {
	if e.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
}

// readBy gives a body until then to come, whether the handler reads it or net/http
// throws it away. net/http lifts the deadline when the body has ended, and watches the
// connection from there on. It does so from the start where there is no body: a deadline
// would end the watch, and with it the contexts of this request and of all that follow on
// the connection.
func readBy(w http.ResponseWriter, body io.ReadCloser, then time.Time) {
	if body != nil && body != http.NoBody {
		_ = http.NewResponseController(w).SetReadDeadline(then) // test recorders have none
	}
}

// A watchedBody knows whether it has ended.
type watchedBody struct {
	io.ReadCloser
	ended bool
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.ended = b.ended || errors.Is(err, io.EOF)
	return n, err
}

// readBody reads a whole body within the bounds of the configuration; see [Server.observe]
// for the time it has.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) ([]byte, *bodyError) {
	if r.ContentLength > s.cfg.MaxBody {
		return nil, s.tooLarge()
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.cfg.MaxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, s.tooLarge()
	}
	if refused, ok := errors.AsType[*bodyError](err); ok {
		return nil, refused
	}
	if err != nil {
		return nil, &bodyError{http.StatusBadRequest, "the request body ended early or came too slowly"}
	}
	return body, nil
}

func (s *Server) tooLarge() *bodyError {
	return &bodyError{http.StatusRequestEntityTooLarge,
		fmt.Sprintf("the request body is larger than %d bytes; send large files by URL", s.cfg.MaxBody)}
}
