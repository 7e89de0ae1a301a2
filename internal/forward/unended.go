package forward

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
)

// unended is a connection whose end is an error: coder/websocket takes an [io.EOF] that comes within a
// message for the end of that message.
type unended struct{ io.ReadWriteCloser }

// Read implements [io.Reader].
func (u unended) Read(p []byte) (int, error) {
	n, err := u.ReadWriteCloser.Read(p)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// whole is the answer to an upgrade, whose connection is unended.
func whole(res *http.Response) *http.Response {
	if conn, ok := res.Body.(io.ReadWriteCloser); ok {
		res.Body = unended{conn}
	}
	return res
}

// A hijacked answer gives away its connection, unended, and keeps it to be cut.
type hijacked struct {
	http.ResponseWriter
	conn net.Conn
}

// Hijack implements [http.Hijacker].
func (h *hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(h.ResponseWriter).Hijack()
	h.conn = conn
	return unendedConn{conn, unended{conn}}, buffered, err
}

type unendedConn struct {
	net.Conn
	reads io.Reader
}

// Read implements [io.Reader].
func (u unendedConn) Read(p []byte) (int, error) { return u.reads.Read(p) }
