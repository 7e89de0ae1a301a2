package crowd

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// fielded is a request with so many fields in its header.
func fielded(path string, n int, rest string) string {
	var fields strings.Builder
	for i := range n {
		fmt.Fprintf(&fields, "F%d:\r\n", i/2) // each twice
	}
	return "POST " + path + " HTTP/1.1\r\nHost: x\r\n" + fields.String() + rest
}

// TestFieldsOfHeaders are bounded: a request with more of them is answered at once, whether
// its body has come or not, and comes to no handler.
func TestFieldsOfHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 8)
		defer close(s.done)
		for rest, own := range map[string]int{"\r\n": 0, "Content-Length: 10\r\n\r\n": 1, "Transfer-Encoding: chunked\r\n\r\n5\r\n": 0} {
			many := s.visit(near, fielded("/wait", mostFields-own+1, rest))
			time.Sleep(time.Second) // net/http leaves its reader a moment before it closes
			synctest.Wait()
			if len(many.read) == 0 || !strings.HasPrefix(<-many.read, "HTTP/1.1 431 ") || !many.isClosed() {
				t.Errorf("%q: one more is not refused, or its connection is open", rest)
			}
			if most := s.visit(near, fielded("/wait", mostFields-own, rest)); len(most.read) > 0 || most.isClosed() {
				t.Errorf("%q: as many as may be do not come to the handler", rest)
			}
		}
	})
}

// TestFieldsAreNotKept: net/http keeps a request until its connection is closed.
func TestFieldsAreNotKept(t *testing.T) {
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	for i := range mostFields + 1 {
		r.Header.Set(fmt.Sprint("F", i), "")
	}
	new(crowd).served(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), r)
	if len(r.Header) > 0 {
		t.Errorf("%d fields are kept", len(r.Header))
	}
}

// TestHeaderThatDoesNotEnd is refused when it has too many lines, of the first request of a
// connection and of the next, with what has come kept no longer; lines of bodies do not count.
func TestHeaderThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 8)
		defer close(s.done)
		body := strings.Repeat("\n", 10*mostLines)
		served := fmt.Sprintf("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		lines := "Host:x\r\nF:\r\n" + strings.Repeat(" f\r\n", mostLines-3) // the first line counts, too, and these are one field
		for name, before := range map[string]string{"first": "", "next": served} {
			v := s.visit(near, before)
			if len(v.read) > 0 || before != "" {
				if got := <-v.read; !strings.HasPrefix(got, "HTTP/1.1 200") {
					t.Errorf("%s: %s", name, got)
				}
			}
			for _, part := range []string{"GET /x HTTP/1.1\r\n", lines} {
				if _, err := io.WriteString(v.Conn, part); err != nil {
					t.Error(err)
				}
			}
			synctest.Wait()
			if len(v.read) > 0 || v.isClosed() {
				t.Errorf("%s: as many as may be are refused", name)
			}
			if _, err := io.WriteString(v.Conn, "F:\r\n"); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Second) // net/http leaves its reader a moment before it closes
			synctest.Wait()
			if len(v.read) == 0 || !strings.HasPrefix(<-v.read, "HTTP/1.1 431 ") || !v.isClosed() {
				t.Errorf("%s: one more is not refused, or its connection is open", name)
			}
		}
	})
}

// TestRequestsThatComeAtOnce: the body of a request is no header, though the header came with the
// end of the request before it, whole or in part.
func TestRequestsThatComeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 8)
		defer close(s.done)
		body := strings.Repeat("{}\n", 100*mostLines) // many times what net/http reads at once
		one := fmt.Sprintf("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", len(body))
		for name, after := range map[string]string{"whole": one, "without its end": strings.TrimSuffix(one, "\r\n"), "a line": one[:20]} {
			v := s.visit(near, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n"+after)
			if got := <-v.read; !strings.HasPrefix(got, "HTTP/1.1 200") {
				t.Errorf("%s: %s", name, got)
			}
			if _, err := io.WriteString(v.Conn, strings.TrimPrefix(one, after)+body); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			if got := <-v.read; !strings.HasPrefix(got, "HTTP/1.1 200") {
				t.Errorf("%s: the next: %s", name, got)
			}
		}
	})
}

// TestHeaderThatIsCutInALine is refused as one that is cut between two.
func TestHeaderThatIsCutInALine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 8)
		defer close(s.done)
		for _, end := range []string{"", "Nam", "Name:", "Name: val", "Name: val\r"} {
			v := s.visit(near, "GET /x HTTP/1.1\r\nHost: x\r\n"+strings.Repeat("F:\r\n", mostLines)+end)
			time.Sleep(time.Second) // net/http leaves its reader a moment before it closes
			synctest.Wait()
			if len(v.read) == 0 || !strings.HasPrefix(<-v.read, "HTTP/1.1 431 ") || !v.isClosed() {
				t.Errorf("%q: not refused, or its connection is open", end)
			}
		}
	})
}
