package server

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
)

// TestRefusalsByBinding: what is refused before a binding has looked at it is
// said in the words of the one whose path it is.
func TestRefusalsByBinding(t *testing.T) {
	open := start(t, Config{})
	locked := start(t, Config{Token: "s3cret"})
	closing := newServer(t, Config{})
	closing.work.drain()
	away := serveHandler(t, closing.Handler())
	tests := []struct {
		name, route, url string
		status           int
		reason, text     string
		header           []string
	}{
		{"token", "", locked.URL, 401, "UNAUTHENTICATED", "RUNTIME_TOKEN", nil},
		{"origin", "", open.URL, 403, "UNAUTHORIZED", "evil.example", []string{"Origin", "http://evil.example"}},
		{"host", "", open.URL, 421, "UNAUTHORIZED", "evil.example", []string{"Host", "evil.example"}},
		{"shutdown", "", away, 503, "SERVER_ERROR", "shutting down", nil},
		{"method", "PUT", open.URL, 405, "METHOD_NOT_FOUND", "takes", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, path := range []string{"/message:send", "/tasks", "/tasks/T1", "/acme/tasks/T1", "/extendedAgentCard", "/v1/message:send", "/v1/tasks/T1", "/v1/card", "/agent/authenticatedExtendedCard"} {
				method := tt.route
				if method == "" {
					method = http.MethodGet
					if strings.Contains(path, ":") {
						method = http.MethodPost
					}
				}
				a := do(t, method, tt.url+path, "", tt.header...)
				refusal{0, tt.status, tt.reason, tt.text}.wantREST(t, a)
				if id := a.header.Get("X-Request-Id"); id == "" || !strings.Contains(a.body, `"requestId":"`+id+`"`) {
					t.Errorf("no request id: %s", a.body)
				}
			}
			for _, path := range []string{"/", "/a2a"} {
				method, body := tt.route, v1Hi
				if method != "" {
					body = ""
				}
				a := do(t, cmp.Or(method, "POST"), tt.url+path, body, tt.header...)
				if a.status != tt.status || !strings.Contains(a.body, `"error":"`) || !strings.Contains(a.body, tt.text) {
					t.Errorf("%s: %d %s", path, a.status, a.body)
				}
			}
		})
	}
	for _, path := range []string{"/tasks/a/b", "/v1/nope", "/tasks/", "/acme/tasks/", "/v1/tasks/", "/message:dance"} {
		refusal{0, 404, "METHOD_NOT_FOUND", "there is nothing at"}.wantREST(t, do(t, "GET", open.URL+path, ""))
	}
	if a := do(t, "GET", open.URL+"/nope", "", "Host", "evil.example"); a.status != 421 || !strings.Contains(a.body, `{"error":"`) {
		t.Errorf("a plain page: %d %s", a.status, a.body)
	}
}

// TestFormsOfErrors: an error of each binding of 1.0, byte for byte but for its words.
func TestFormsOfErrors(t *testing.T) {
	ts := start(t, Config{Handler: engine(t)})
	const info = `[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","domain":"a2a-protocol.org","metadata":{"taskId":"nope"},"reason":"TASK_NOT_FOUND"}]`
	for want, a := range map[string]answer{
		`{"jsonrpc":"2.0","id":"x","error":{"code":-32001,"message":WORDS,"data":` + info + `}}`: do(t, "POST", ts.URL, `{"jsonrpc":"2.0","id":"x","method":"GetTask","params":{"id":"nope"}}`),
		`{"error":{"code":404,"status":"NOT_FOUND","message":WORDS,"details":` + info + `}}`:     do(t, "GET", ts.URL+"/tasks/nope", ""),
	} {
		head, tail, _ := strings.Cut(want, "WORDS")
		if got := strings.TrimSpace(a.body); !strings.HasPrefix(got, head+`"`) || !strings.HasSuffix(got, tail) {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// TestVerbs: a task takes the same verbs in both versions, however its path is
// escaped, and says so.
func TestVerbs(t *testing.T) {
	ts := start(t, Config{})
	for _, v := range []string{"", "/v1", "/acme"} {
		for route, want := range map[string]int{
			"POST /tasks/T1:cancel": 200, "POST /tasks/T1%3Acancel": 200, "POST /t%61sks/T1%3acancel": 200, "GET /tasks/T1%3Asubscribe": 200,
			"POST /tasks/T1:dance": 405, "POST /tasks/T1%3Adance": 405, "POST /tasks/T1": 405, "PUT /tasks/T1%3Acancel": 405, "GET /tasks/T1:cancel": 404,
			"GET /message:send": 405, "GET /message%3Asend": 405,
		} {
			if v == "/v1" && strings.HasPrefix(route, "GET /tasks/T1:") {
				continue
			}
			method, path, _ := strings.Cut(route, " ")
			a := do(t, method, ts.URL+v+path, "")
			if a.status != want || want == 405 && a.header.Get("Allow") == "" || want != 200 && !strings.Contains(a.body, `"details"`) {
				t.Errorf("%s%s: %d, Allow %q, %s", v, route, a.status, a.header.Get("Allow"), a.body)
			}
		}
		body := `{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hi"}]}}`
		if v == "/v1" {
			body = strings.Replace(body, "parts", "content", 1)
		}
		if a := do(t, "POST", ts.URL+v+"/message%3Asend", body); a.status != 200 {
			t.Errorf("%s: %d %s", v, a.status, a.body)
		}
	}
}

// TestLargeBodiesAreRefusedAtOnce: nobody waits for what will not be read.
func TestLargeBodiesAreRefusedAtOnce(t *testing.T) {
	r := serve(t, Config{MaxBody: 1000})
	for _, path := range []string{"/", "/message:send", "/v1/message:stream"} {
		got := exchange(t, r.addr, fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1001\r\n\r\n{", path))
		if !strings.HasPrefix(got, "HTTP/1.1 413 ") || !strings.Contains(got, "1000 bytes") {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// TestAcceptedMedia: plain JSON is for everybody who does not ask for the other.
func TestAcceptedMedia(t *testing.T) {
	ts := start(t, Config{})
	for accept, want := range map[string]string{
		"": wire.JSON, "*/*": wire.JSON, "application/json": wire.JSON, wire.A2aJSON: wire.A2aJSON, "text/html, APPLICATION/a2a+json;q=0.5": wire.A2aJSON,
		wire.A2aJSON + ";q=0": wire.JSON, "application/json, " + wire.A2aJSON + "; q=0.000": wire.JSON, "application/a2a+jsonish": wire.JSON,
	} {
		if got := do(t, "GET", ts.URL+"/tasks/T1", "", "Accept", accept).header.Get("Content-Type"); got != want {
			t.Errorf("%q: %s", accept, got)
		}
	}
}

// TestWhatCannotBeEncoded is an error in the form of its binding, and in the log.
func TestWhatCannotBeEncoded(t *testing.T) {
	var log bytes.Buffer
	bad := map[string]any{"bad": func() {}}
	h := &fakeHandler{
		get: func(_ context.Context, req *a2a.GetTaskRequest) (*a2a.Task, error) {
			if req.ID == "details" {
				return nil, a2a.NewError(a2a.ErrUnsupportedOperation, "it has ended").WithDetails(bad)
			}
			return &a2a.Task{ID: "T1", Metadata: bad}, nil
		}}
	ts := start(t, Config{Handler: h, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for _, tt := range []struct {
		id   string
		want refusal
	}{
		{"T1", refusal{-32603, 500, "INTERNAL_ERROR", "internal error"}},
		{"details", refusal{-32004, 400, "UNSUPPORTED_OPERATION", "it has ended"}},
	} {
		for _, method := range []string{"GetTask", "tasks/get"} {
			a := do(t, "POST", ts.URL, fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":{"id":%q}}`, method, tt.id))
			if tt.want.wantRPC(t, a, method == "tasks/get"); string(a.rpc(t).ID) != "7" {
				t.Errorf("id: %s", a.body)
			}
		}
		for _, path := range []string{"/tasks/", "/v1/tasks/"} {
			tt.want.wantREST(t, do(t, "GET", ts.URL+path+tt.id, ""))
		}
	}
	ts.Close() // waits for the handlers, so for the log
	if n := strings.Count(log.String(), "func()"); n != 8 {
		t.Errorf("%d of 8 are in the log: %s", n, &log)
	}
}
