package forward

import (
	"io"
	"net/http"
)

// pieceBytes is how much of an answer is read at a time.
const pieceBytes = 8 << 10

// A covered body is the body of an answer without the secret. A piece goes on as it
// comes: only an end that may be the beginning of the secret waits for the next one, and
// events do not end so.
type covered struct {
	body   io.ReadCloser
	secret *secret
	closed func() // is called once the trailers are there

	buf                []byte
	next, settled, end int // buf[next:settled] may go on, buf[settled:end] waits
	err                error
}

func (s *secret) body(body io.ReadCloser, closed func()) io.ReadCloser {
	return &covered{body: body, secret: s, closed: closed, buf: make([]byte, pieceBytes+s.longest)}
}

// Read implements [io.Reader].
func (c *covered) Read(p []byte) (int, error) {
	for c.next == c.settled {
		if c.err != nil {
			return 0, c.err
		}
		c.read()
	}
	n := copy(p, c.buf[c.next:c.settled])
	c.next += n
	return n, nil
}

// read gets another piece, behind what has waited for it.
func (c *covered) read() {
	waiting := copy(c.buf, c.buf[c.settled:c.end])
	n, err := c.body.Read(c.buf[waiting:])
	c.next, c.end = 0, waiting+n
	c.settled = c.secret.coverPiece(c.buf[:c.end])
	if err != nil {
		c.settled, c.err = c.end, c.secret.error(err)
	}
}

// Close implements [io.Closer].
func (c *covered) Close() error {
	err := c.body.Close()
	c.closed()
	return err
}

// withoutInterim is an answer without what comes before it: codex has no use for hints,
// and their headers may quote what the endpoint was sent.
type withoutInterim struct{ http.ResponseWriter }

func (w withoutInterim) WriteHeader(status int) {
	if status >= http.StatusOK {
		w.ResponseWriter.WriteHeader(status)
	}
}

// Unwrap lets [http.ResponseController] flush.
func (w withoutInterim) Unwrap() http.ResponseWriter { return w.ResponseWriter }
