package crowd

import (
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// mostFields is how many values the fields of a header may have. A field of a few bytes takes
// some hundred in memory, for as long as its request lasts, and no caller has a hundred.
const mostFields = 100

// manyFields reports whether the header of a request has more than it may.
func manyFields(r *http.Request) bool {
	if at, ok := r.Context().Value(placeKey{}).(place); ok {
		if h, ok := at.conn.(*headed); ok && h.cut {
			return true
		}
	}
	n := 0
	for _, values := range r.Header {
		n += len(values)
	}
	return n > mostFields
}

// refuseFields answers a request with too many of them as net/http answers one whose header
// has too many bytes: its connection is closed, without its body being waited for. R must be
// the one of net/http, which keeps it until the connection is closed.
func refuseFields(w http.ResponseWriter, r *http.Request) {
	r.Header = http.Header{}
	w.Header().Set("Connection", "close")
	_ = http.NewResponseController(w).SetReadDeadline(time.Now())
	http.Error(w, "the header has too many fields", http.StatusRequestHeaderFieldsTooLarge)
}

// mostLines is how many lines a header may have while it comes: net/http keeps what has come of
// one that does not end.
const mostLines = mostFields + 28

// A headed connection counts the lines of the header that comes, and ends one that has too many:
// net/http has the request answered, and closes the connection in its own way. Its fields belong
// to who serves it, who reads one thing at a time.
type headed struct {
	net.Conn
	lines int
	text  bool // the line that comes has something in it
	ended bool // what comes is a body
	cut   bool // the header had too many lines
	left  string
}

// Read gives no more of a header than it may have.
func (h *headed) Read(p []byte) (int, error) {
	if h.cut {
		n := copy(p, h.left)
		if h.left = h.left[n:]; n == 0 && len(p) > 0 {
			return 0, io.EOF
		}
		return n, nil
	}
	n, err := h.Conn.Read(p)
	if most, ok := h.count(p[:n]); !ok {
		h.cut, h.left = true, "\r\n"
		return most, nil
	}
	return n, err
}

// count returns how many bytes of what comes are taken: all, or those to the end of the line that
// is one too many.
func (h *headed) count(p []byte) (n int, ok bool) {
	for i, b := range p {
		switch {
		case h.ended:
			return len(p), true
		case b == '\r':
		case b != '\n':
			h.text = true
		case h.text:
			if h.lines, h.text = h.lines+1, false; h.lines > mostLines {
				return i + 1, false
			}
		case h.lines > 0:
			h.ended = true
		}
	}
	return len(p), true
}

// next says that a header comes.
func (h *headed) next() { h.lines, h.text, h.ended = 0, false, false }

// ReadFrom leaves files to the system, as net/http does.
func (h *headed) ReadFrom(r io.Reader) (int64, error) { return io.Copy(h.Conn, r) }

// CloseWrite has the other side read an answer before the connection is closed, as net/http does.
func (h *headed) CloseWrite() error {
	if c, ok := h.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return errors.ErrUnsupported
}
