package crowd

import (
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// mostFields is how many values the fields of a header may have. A field of a few bytes takes
// some hundred in memory, for as long as its request lasts, and no caller has a hundred.
const mostFields = 100

// manyFields reports whether the header of a request has more than it may. It is asked before the
// body is read.
func manyFields(r *http.Request) bool {
	if at, ok := r.Context().Value(placeKey{}).(place); ok {
		if h, ok := at.conn.(*headed); ok && h.whole() {
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
// net/http has the request answered, and closes the connection in its own way.
//
// What has come of the next request with the last bytes of this one is not seen to be its header.
// So that a body is not taken for one, lines count only until its request is served, and there are
// too many when net/http wants more of the header: of one that is whole it wants nothing.
type headed struct {
	net.Conn

	mu    sync.Mutex // net/http reads beside the handler, too; guards what follows
	lines int
	text  bool // the line that comes has something in it
	last  byte
	ended bool // what comes is no header
	cut   bool // the header had too many lines
	left  string
}

// Read gives nothing more of a header that has too many lines than an end.
func (h *headed) Read(p []byte) (int, error) {
	if left, cut := h.end(p); cut {
		if left == 0 && len(p) > 0 {
			return 0, io.EOF
		}
		return left, nil
	}
	n, err := h.Conn.Read(p)
	h.count(p[:n])
	return n, err
}

// end ends a header that has too many lines, and returns how many bytes of its end there are.
func (h *headed) end(p []byte) (n int, cut bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.cut && (h.ended || h.lines <= mostLines) {
		return 0, false
	}
	if !h.cut {
		h.cut = true
		switch { // its line first, as a field
		case h.last == '\r':
			h.left = "\n\r\n"
		case h.text:
			h.left = ":\r\n\r\n"
		default:
			h.left = "\r\n"
		}
	}
	n = copy(p, h.left)
	h.left = h.left[n:]
	return n, true
}

func (h *headed) count(p []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, b := range p {
		if h.ended {
			return
		}
		h.last = b
		switch {
		case b == '\r':
		case b != '\n':
			h.text = true
		case h.text:
			h.lines, h.text = h.lines+1, false
		case h.lines > 0:
			h.ended = true
		}
	}
}

// next says that a header comes.
func (h *headed) next() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines, h.text, h.last, h.ended = 0, false, 0, false
}

// whole says that the header is here, and reports whether it had to be ended.
func (h *headed) whole() (cut bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	return h.cut
}

// NetConn is the connection below, as crypto/tls calls it, too.
func (h *headed) NetConn() net.Conn { return h.Conn }

// ReadFrom leaves files to the system, as net/http does.
func (h *headed) ReadFrom(r io.Reader) (int64, error) { return io.Copy(h.Conn, r) }

// CloseWrite has the other side read an answer before the connection is closed, as net/http does.
func (h *headed) CloseWrite() error {
	if c, ok := h.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return errors.ErrUnsupported
}
