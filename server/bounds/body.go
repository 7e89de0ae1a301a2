package bounds

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
)

// A BodyError says why a body could not be read, and with which status.
type BodyError struct {
	Status int
	Text   string
}

func (e *BodyError) Error() string { return e.Text }

// Err is what the caller is told.
func (e *BodyError) Err() error {
	if e.Status == http.StatusServiceUnavailable {
		return a2a.NewError(a2a.ErrServerError, e.Text)
	}
	return wire.InvalidRequest("%s", e.Text)
}

// Head says in the header when to come again.
func (e *BodyError) Head(w http.ResponseWriter) {
	if e.Status == http.StatusServiceUnavailable {
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

// ReadBody reads a whole body of most bytes at most; see [Deadlines] for the time it has.
func ReadBody(w http.ResponseWriter, r *http.Request, most int64) ([]byte, *BodyError) {
	if r.ContentLength > most {
		return nil, tooLarge(most)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, tooLarge(most)
	}
	if refused, ok := errors.AsType[*BodyError](err); ok {
		return nil, refused
	}
	if err != nil {
		return nil, &BodyError{http.StatusBadRequest, "the request body ended early or came too slowly"}
	}
	return body, nil
}

func tooLarge(most int64) *BodyError {
	return &BodyError{http.StatusRequestEntityTooLarge,
		fmt.Sprintf("the request body is larger than %d bytes; send large files by URL", most)}
}

// Patient gives each read of a body its own deadline, timeout ahead: a large body has as long as it
// needs, and one that stalls does not.
func Patient(w http.ResponseWriter, r *http.Request, timeout time.Duration) io.ReadCloser {
	return &patientBody{ReadCloser: r.Body, w: w, timeout: timeout}
}

type patientBody struct {
	io.ReadCloser
	w       http.ResponseWriter
	timeout time.Duration
	armed   time.Time
	ended   bool // and the connection is watched: no deadline may be set any more
}

func (b *patientBody) Read(p []byte) (int, error) {
	if at := time.Now(); !b.ended && at.Sub(b.armed) > b.timeout/8 {
		b.armed = at
		readBy(b.w, b.ReadCloser, at.Add(b.timeout))
	}
	n, err := b.ReadCloser.Read(p)
	b.ended = b.ended || err != nil
	return n, err
}
