package crowd

import (
	"fmt"
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
