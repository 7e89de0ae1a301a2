package hostile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// A call is one request, written as it stands here: nothing in it is put right.
type call struct {
	method, path string   // the request target is the path as it is
	host         string   // "" is the program's own address, "-" no Host at all
	header       []string // whole lines
	body         string
	version      string // "" is HTTP/1.1
	head         bool   // the answer's body has no end: its header is all that is read
}

// An answer is what came back. Err says that nothing did, or not all of it.
type answer struct {
	status int
	header http.Header
	body   string
	err    error
}

// whole is the answer as one text, to be searched.
func (a answer) whole() string {
	var b strings.Builder
	_ = a.header.Write(&b)
	return b.String() + "\n" + a.body
}

func (a answer) String() string {
	if a.err != nil {
		return fmt.Sprintf("%d %v", a.status, a.err)
	}
	return fmt.Sprintf("%d %.160s", a.status, a.body)
}

// text is the request as it is sent.
func (c call) text(addr string) string {
	var b strings.Builder
	version := c.version
	if version == "" {
		version = "HTTP/1.1"
	}
	fmt.Fprintf(&b, "%s %s %s\r\n", c.method, c.path, version)
	switch c.host {
	case "":
		fmt.Fprintf(&b, "Host: %s\r\n", addr)
	case "-":
	default:
		fmt.Fprintf(&b, "Host: %s\r\n", c.host)
	}
	framed := false
	for _, line := range c.header {
		name, _, _ := strings.Cut(strings.ToLower(line), ":")
		framed = framed || name == "content-length" || name == "transfer-encoding"
		b.WriteString(line + "\r\n")
	}
	if c.body != "" && !framed {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(c.body))
	}
	b.WriteString("Connection: close\r\n\r\n" + c.body)
	return b.String()
}

// patience bounds one exchange.
const patience = progtest.Patience

// exchange sends text on a connection of its own and reads one answer.
func exchange(addr, text string, head bool, method string) answer {
	dialer := net.Dialer{Timeout: patience}
	conn, err := dialer.Dial("tcp", addr)
	if err != nil {
		return answer{err: err}
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = io.WriteString(conn, text) // it may be refused before it is read
	}()
	defer func() {
		_ = conn.Close()
		<-sent
	}()
	return read(bufio.NewReader(conn), head, method)
}

func read(from *bufio.Reader, head bool, method string) answer {
	res, err := http.ReadResponse(from, &http.Request{Method: method}) // its body is not closed, which would be to read it to its end: the connection is
	if err != nil {
		return answer{err: err}
	}
	a := answer{status: res.StatusCode, header: res.Header}
	if head {
		return a
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, 20<<20))
	a.body = string(body)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		a.err = err
	}
	return a
}
