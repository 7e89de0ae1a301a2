package server

import (
	"strings"
	"testing"
)

// TestUnserved: what Go's server answers by itself, without the headers of all other
// answers, has nothing of the request in it. What gets past it has them.
func TestUnserved(t *testing.T) {
	r := serve(t, Config{})
	const page = "<script>x()</script>"
	for request, status := range map[string]string{
		"<script>x()</script>\r\n\r\n":                                                                       "400",
		"GET / HTTP/1.1\r\nHost: " + page + "\r\n\r\n":                                                       "400",
		"GET / HTTP/1.1\r\nHost: localhost\r\n" + page + "\r\n\r\n":                                          "400",
		"GET / HTTP/1.1\r\nHost: localhost\r\n" + page + ": x\r\n\r\n":                                       "400",
		"GET / HTTP/9.9\r\nHost: localhost\r\nX: " + page + "\r\n\r\n":                                       "505",
		"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + page + strings.Repeat("x", 40<<10) + "\r\n\r\n":         "431",
		"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: " + page + "\r\nConnection: close\r\n\r\n": "501",
		"POST / HTTP/1.1\r\nHost: localhost\r\nExpect: " + page + "\r\nContent-Length: 1\r\n\r\nx":           "417",
		"OPTIONS * HTTP/1.1\r\nHost: localhost\r\nOrigin: " + page + "\r\nConnection: close\r\n\r\n":         "200",
		"GET /" + page + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n":                         "404",
	} {
		answer := exchange(t, r.addr, request)
		inert := strings.Contains(answer, "\r\nContent-Security-Policy: default-src 'none'; frame-ancestors 'none'; sandbox\r\n")
		if !strings.HasPrefix(answer, "HTTP/1.1 "+status) || strings.Contains(answer, "<") && !inert || status == "404" && !inert {
			t.Errorf("%.100q is answered %q", request, answer)
		}
	}
}
