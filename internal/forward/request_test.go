package forward

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// raw sends a request as it is, and returns the status of its answer, or 0.
func raw(t *testing.T, f *Forwarder, request string) int {
	t.Helper()
	conn, err := net.Dial("tcp", f.host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, request)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// TestWhatCodexSendsGoesOn, and nothing that may mean something else to the endpoint.
func TestWhatCodexSendsGoesOn(t *testing.T) {
	var got *http.Request
	url := endpoint(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		got = r
	})
	f, _ := start(t)
	_, token, err := f.Renew(Target{URL: url, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	passes := []string{
		"Accept: text/event-stream", "Content-Type: application/json", "Content-Encoding: zstd", "User-Agent: codex/0.169.0", "Originator: codex",
		"Session-Id: s", "session_id: s", "Thread-Id: t", "Traceparent: 00-x", "X-Codex-Turn-Metadata: {}", "X-Codex-Window-Id: w",
		"X-Codex-Beta-Features: b", "X-Client-Request-Id: r", "X-OpenAI-Internal-Codex-Responses-Lite: true", "OpenAI-Beta: b", "X-OpenAI-Subagent: s",
	}
	stays := []string{
		"Cookie: a=b", "OpenAI-Organization: o", "OpenAI-Project: p", "X-Api-Key: k", "Api-Key: k", "Proxy-Authorization: Basic x", "X-Forwarded-For: 1.2.3.4",
		"X-Forwarded-Host: h", "Forwarded: for=x", "Via: 1.1 x", "X-Real-Ip: 1.2.3.4", "X-HTTP-Method-Override: DELETE", "Referer: http://x", "Accept-Encoding: gzip",
		"Range: bytes=1-", "X-OpenAI-Internal-Caller: x", "X-Original-Url: /files", "TE: trailers", "Upgrade: websocket", "Sec-Websocket-Key: x",
		"ChatGPT-Account-Id: a", "X-Amz-Security-Token: x", "Idempotency-Key: k", "Accept-Language: de", "Trailer: Cookie",
	}
	request := "POST /responses HTTP/1.1\r\nHost: " + f.host + "\r\nAuthorization: Bearer " + token + "\r\n" + strings.Join(append(passes, stays...), "\r\n") +
		"\r\nConnection: Upgrade, X-Codex-Window-Id\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nCookie: a=b\r\n\r\n"
	if status := raw(t, f, request); status != http.StatusOK {
		t.Fatal(status)
	}
	for _, line := range passes {
		name, value, _ := strings.Cut(line, ": ")
		if name != "X-Codex-Window-Id" && got.Header.Get(name) != value {
			t.Errorf("%s has become %q", line, got.Header.Get(name))
		}
	}
	for _, line := range stays {
		if name, _, _ := strings.Cut(line, ": "); got.Header.Get(name) != "" && name != "Accept-Encoding" {
			t.Errorf("%s: %q goes on", name, got.Header.Get(name))
		}
	}
	if len(got.Trailer) > 0 || got.Header.Get("Accept-Encoding") != "identity" || got.Header.Get("Connection") != "" {
		t.Errorf("trailer %v, header %v", got.Trailer, got.Header)
	}
}

// TestOnlyProgramsThatKnowWhereItIs get an answer: not a page in a browser, and not a
// name that was made to lead here.
func TestOnlyProgramsThatKnowWhereItIs(t *testing.T) {
	asked := 0
	url := endpoint(t, func(http.ResponseWriter, *http.Request) { asked++ })
	f, _ := start(t)
	_, token, err := f.Renew(Target{URL: url, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(f.host)
	for lines, want := range map[string]int{
		"Host: evil.example": 403, "Host: 127.0.0.1": 403, "Host: localhost:" + port: 403, "Host: " + f.host + ".": 403, "Host: [::1]:" + port: 403,
		"Host:": 403, "Host: 127.0.0.1:1": 403, "Host: " + f.host + "\r\nHost: " + f.host: 400, "X: y": 400,
		"Host: " + f.host + "\r\nOrigin: http://" + f.host: 403, "Host: " + f.host + "\r\nOrigin:": 403, "Host: " + f.host + "\r\nOrigin: null": 403,
		"Host: " + f.host + "\r\nSec-Fetch-Site: none": 403, "Host: " + f.host + "\r\nsec-fetch-mode: cors": 403,
	} {
		if got := raw(t, f, "GET /models HTTP/1.1\r\n"+lines+"\r\nAuthorization: Bearer "+token+"\r\n\r\n"); got != want || asked != 0 {
			t.Errorf("%q: %d, want %d; asked %d times", lines, got, want, asked)
		}
	}
	if got := raw(t, f, "GET http://evil.example/models HTTP/1.1\r\nHost: "+f.host+"\r\nAuthorization: Bearer "+token+"\r\n\r\n"); got != http.StatusForbidden || asked != 0 {
		t.Errorf("an absolute URL: %d", got)
	}
	if got := raw(t, f, "GET /models HTTP/1.1\r\nHost: "+f.host+"\r\nAuthorization: Bearer "+token+"\r\n\r\n"); got != http.StatusOK || asked != 1 {
		t.Errorf("as codex does: %d", got)
	}
}

// FuzzRequest sends what it likes: what reaches the endpoint asks the model, under the
// endpoint's own path, with the key, and with no header that codex does not send.
func FuzzRequest(f *testing.F) {
	endpoint := make(chan *http.Request, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		endpoint <- r
	}))
	defer server.Close()
	forwarder, err := Listen(&http.Transport{}, func(Call) {}, slog.New(slog.DiscardHandler))
	if err != nil {
		f.Fatal(err)
	}
	defer forwarder.Close(context.Background())
	_, token, err := forwarder.Renew(Target{URL: server.URL + "/llm/v1", Key: key})
	if err != nil {
		f.Fatal(err)
	}
	for _, line := range []string{"POST /responses", "GET /models?a=b", "GET /../models", "POST //responses", "POST /responses%2f..", "GET http://evil.example/models", "* *"} {
		f.Add(line, "Cookie: a=b", "{}")
		f.Add(line, "Origin: null\r\nX-Codex-A: b", "")
	}
	f.Add("POST /responses HTTP/1.1\r\nTransfer-Encoding: chunked\r\nX:", "Content-Length: 3", "0\r\n\r\nGET /files HTTP/1.1\r\n\r\n")
	paths := []string{
		"GET /llm/v1/responses", "GET /llm/v1/models", "POST /llm/v1/responses", "POST /llm/v1/responses/compact", "POST /llm/v1/alpha/search",
		"POST /llm/v1/images/generations", "POST /llm/v1/images/edits", "POST /llm/v1/memories/trace_summarize",
	}
	own := []string{"Authorization", "Accept-Encoding", "Content-Length"}
	f.Fuzz(func(t *testing.T, line, header, body string) {
		conn, err := net.Dial("tcp", forwarder.host)
		if err != nil {
			t.Skip(err)
		}
		defer conn.Close()
		var request bytes.Buffer
		fmt.Fprintf(&request, "%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nConnection: close\r\nContent-Length: %d\r\n%s\r\n\r\n%s",
			line, forwarder.host, token, len(body), header, body)
		_, _ = conn.Write(request.Bytes())
		_ = conn.(*net.TCPConn).CloseWrite()
		answer, _ := io.ReadAll(conn)
		if bytes.Contains(answer, []byte(key)) {
			t.Fatalf("the key is in %q", answer)
		}
		for len(endpoint) > 0 {
			r := <-endpoint
			if path, err := url.PathUnescape(r.URL.EscapedPath()); err != nil || !slices.Contains(paths, r.Method+" "+path) || r.Header.Get("Authorization") != "Bearer "+key || len(r.Header["Authorization"]) != 1 {
				t.Fatalf("%s %s %v", r.Method, r.URL, r.Header)
			}
			for name := range r.Header {
				if !slices.Contains(own, name) && len(passing(http.Header{name: nil})) == 0 {
					t.Fatalf("%s goes on", name)
				}
			}
		}
	})
}
