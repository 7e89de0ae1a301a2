package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/server/guard"
	"github.com/Molecule-AI/molecule-codex-runtime/server/respond"
)

const (
	v0Hi = `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"m1","role":"user","parts":[{"kind":"text","text":"hi"}]}}}`
	v1Hi = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hi"}]}}}`
)

func v1Send(params string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":` + params + `}`
}

func TestBothVersionsOnBothPaths(t *testing.T) {
	ts := start(t, Config{})
	for _, path := range []string{"/", "/a2a", "/a2a/", "//a2a"} {
		if got := do(t, "POST", ts.URL+path, v0Hi).body; !strings.Contains(got, `"kind":"task"`) || !strings.Contains(got, `"state":"completed"`) {
			t.Errorf("0.3 at %s: %s", path, got)
		}
		a := do(t, "POST", ts.URL+path, v1Hi)
		if !strings.HasPrefix(a.body, `{"jsonrpc":"2.0","id":1,"result":{"task":{`) || !strings.Contains(a.body, "TASK_STATE_COMPLETED") || a.header.Get("Content-Type") != "application/json" {
			t.Errorf("1.0 at %s: %v %s", path, a.header, a.body)
		}
	}
}

func TestIDsAreEchoedAsWritten(t *testing.T) {
	ts := start(t, Config{})
	for _, id := range []string{`"a"`, `""`, `"\u00e9<&>"`, `7`, `-1`, `1.50`, `12345678901234567890`, `1e400`, `null`} {
		for _, method := range []string{"GetTask", "tasks/get", "tasks/resubscribe", "SubscribeToTask", "nope", "no/pe"} {
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{"id":"T1"}}`, id, method)
			got := do(t, "POST", ts.URL, body).body
			if want := `{"jsonrpc":"2.0","id":` + id + `,`; !strings.HasPrefix(strings.TrimPrefix(got, "id: 1.1\ndata: "), want) {
				t.Errorf("%s with id %s: %s", method, id, got)
			}
		}
	}
}

func TestVersionHeader(t *testing.T) {
	ts := start(t, Config{})
	for version, ok := range map[string]bool{
		"": true, " ": true, "1.0": true, "0.3": true, "1.0.7": true, "0.3.0": true, " 1.0 ": true,
		"99.0": false, "0.9": false, "1.1": false, "1": false, "1.0.x": false, "1.00": false, "x": false,
	} {
		want := refusal{-32009, 400, "VERSION_NOT_SUPPORTED", strings.TrimSpace(version)}
		for _, call := range [][2]string{{"/", v1Stream}, {"/message:send", restHi}, {"/message:stream", restHi}} {
			a := do(t, "POST", ts.URL+call[0], call[1], "A2A-Version", version)
			switch {
			case ok:
				if a.status != 200 || strings.Contains(a.body, `"error"`) {
					t.Errorf("version %q at %s: %d %s", version, call[0], a.status, a.body)
				}
			case call[0] == "/":
				want.wantRPC(t, a, false)
			default:
				want.wantREST(t, a)
			}
		}
		for _, body := range []string{v0Hi, v1Hi} {
			got := do(t, "POST", ts.URL, body, "A2A-Version", version).rpc(t)
			if refused := got.Error != nil; refused == ok || refused && (got.Error.Code != -32009 || strings.Contains(string(got.Error.Data), "supportedVersions") != (body == v1Hi)) {
				t.Errorf("version %q: %+v", version, got.Error)
			}
		}
	}
	refusal{-32009, 400, "VERSION_NOT_SUPPORTED", "99.0"}.wantREST(t, do(t, "GET", ts.URL+"/tasks/T1", "", "A2A-Version", "99.0"))
	if got := do(t, "POST", ts.URL+"/?A2A-Version=99.0", v1Hi).rpc(t); got.Error == nil || got.Error.Code != -32009 {
		t.Errorf("version in the query: %+v", got)
	}
}

func TestContentType(t *testing.T) {
	ts := start(t, Config{})
	for ct, ok := range map[string]bool{
		"": true, "application/json": true, "application/json; charset=utf-8": true, `application/json; charset="UTF-8"`: true, "application/a2a+json": true,
		"application/json; charset=utf-16": false, "application/a2a+json;charset=latin1": false, "multipart/form-data; boundary=x": false,
		"text/plain": false, "application/x-www-form-urlencoded": false, "garbage/;;": false,
	} {
		got := do(t, "POST", ts.URL, v1Hi, "Content-Type", ct).rpc(t)
		if refused := got.Error != nil; refused == ok || refused && got.Error.Code != -32005 {
			t.Errorf("content type %q: %+v", ct, got.Error)
		}
		if a := do(t, "POST", ts.URL+"/message:send", `{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hi"}]}}`, "Content-Type", ct); (a.status == 200) != ok || !ok && a.status != 415 {
			t.Errorf("HTTP+JSON with content type %q: %d %s", ct, a.status, a.body)
		}
	}
}

// TestContentTypeComesFirst: what is declared to be something else is refused as that,
// whatever it holds, and under the id that it has if it is a request all the same.
func TestContentTypeComesFirst(t *testing.T) {
	ts := start(t, Config{})
	for body, want := range map[string]string{
		"hi": "null", "": "null", "[]": "null", `{"jsonrpc":"2.0","id":7}`: "7", strings.Replace(v1Hi, "2.0", "1.0", 1): "1",
		`{"jsonrpc":"2.0","id":8,"method":"Dance"}`: "8", `{"jsonrpc":"2.0","id":{},"method":"Dance"}`: "null", `{"jsonrpc":"2.0","id":9,"method":"GetTask","params":[]}`: "9",
	} {
		a := do(t, "POST", ts.URL, body, "Content-Type", "text/plain", "A2A-Version", "99.0")
		refusal{-32005, 415, "CONTENT_TYPE_NOT_SUPPORTED", `"text/plain"`}.wantRPC(t, a, false)
		if got := string(a.rpc(t).ID); got != want {
			t.Errorf("%s: the id is %s, want %s", body, got, want)
		}
	}
}

func TestBodyBound(t *testing.T) {
	ts := start(t, Config{MaxBody: 4 << 10})
	big := v1Send(`{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"` + strings.Repeat("x", 5<<10) + `"}]}}`)
	a := do(t, "POST", ts.URL, big)
	if got := a.rpc(t); a.status != http.StatusRequestEntityTooLarge || got.Error == nil || got.Error.Code != -32600 || !strings.Contains(got.Error.Message, "4096 bytes") {
		t.Errorf("JSON-RPC: %d %s", a.status, a.body)
	}
	want := refusal{-32600, http.StatusRequestEntityTooLarge, "INVALID_REQUEST", "4096 bytes"}
	for _, path := range []string{"/message:send", "/message:stream", "/tasks/t:cancel", "/v1/message:send", "/v1/message:stream"} {
		want.wantREST(t, do(t, "POST", ts.URL+path, big))
	}
}

func TestErrorsOfTheHandler(t *testing.T) {
	secret := errors.New("open /secret/path: permission denied")
	tests := []struct {
		name string
		err  error
		code int
		text string
	}{
		{"plain", secret, -32603, "internal error"},
		{"wrappedInternal", fmt.Errorf("%w: %w", a2a.ErrInternalError, secret), -32603, "internal error"},
		{"wrappedServer", fmt.Errorf("%w: %w", a2a.ErrServerError, secret), -32603, "internal error"},
		{"written", a2a.NewError(a2a.ErrInternalError, "codex is not there"), -32603, "codex is not there"},
		{"writtenAndWrapped", fmt.Errorf("store: %w", a2a.NewError(a2a.ErrUnsupportedOperation, "it has ended")), -32004, "it has ended"},
		{"writtenAroundNoSentinel", a2a.NewError(secret, "secret for nobody"), -32603, "internal error"},
		{"sentinel", fmt.Errorf("cancel: %w", a2a.ErrTaskNotCancelable), -32002, "cannot be canceled"},
		{"two", fmt.Errorf("%w: %w", a2a.ErrInvalidParams, a2a.ErrTaskNotFound), -32001, "task not found"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := &fakeHandler{
				send: func(context.Context, *a2a.SendMessageRequest) (a2a.SendMessageResult, error) { return nil, tt.err },
				get:  func(context.Context, *a2a.GetTaskRequest) (*a2a.Task, error) { return nil, tt.err },
			}
			ts := start(t, Config{Handler: h})
			for _, a := range []answer{
				do(t, "POST", ts.URL, v1Hi), do(t, "POST", ts.URL, v0Hi), do(t, "GET", ts.URL+"/tasks/T1", ""),
				do(t, "GET", ts.URL+"/v1/tasks/T1", ""),
			} {
				if strings.Contains(a.body, "secret") || !strings.Contains(a.body, tt.text) {
					t.Errorf("body %s", a.body)
				}
			}
			if got := do(t, "POST", ts.URL, v1Hi).rpc(t); got.Error == nil || got.Error.Code != tt.code {
				t.Errorf("error %+v, want code %d", got.Error, tt.code)
			}
		})
	}
}

func TestPanics(t *testing.T) {
	boom := func() { panic("secret of the stack") }
	h := &fakeHandler{
		send: func(context.Context, *a2a.SendMessageRequest) (a2a.SendMessageResult, error) { boom(); return nil, nil },
		stream: func(context.Context, *a2a.SendMessageRequest) unplaced {
			return func(yield func(a2a.Event, error) bool) { boom() }
		},
		get: func(context.Context, *a2a.GetTaskRequest) (*a2a.Task, error) { boom(); return nil, nil },
	}
	ts := start(t, Config{Handler: h})
	v0Stream := strings.Replace(v0Hi, "message/send", "message/stream", 1)
	v1Stream := strings.Replace(v1Hi, "SendMessage", "SendStreamingMessage", 1)
	params := `{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hi"}]}}`
	v0REST := `{"message":{"messageId":"q1","role":"ROLE_USER","content":[{"text":"hi"}]}}`
	for name, a := range map[string]answer{
		"v1": do(t, "POST", ts.URL, v1Hi), "v0": do(t, "POST", ts.URL, v0Hi),
		"v1Stream": do(t, "POST", ts.URL, v1Stream), "v0Stream": do(t, "POST", ts.URL, v0Stream),
		"rest": do(t, "POST", ts.URL+"/message:send", params), "restStream": do(t, "POST", ts.URL+"/message:stream", params),
		"restGet": do(t, "GET", ts.URL+"/tasks/T1", ""), "v0REST": do(t, "POST", ts.URL+"/v1/message:send", v0REST),
		"v0RESTStream": do(t, "POST", ts.URL+"/v1/message:stream", v0REST),
	} {
		if strings.Contains(a.body, "secret") || strings.Contains(a.body, "goroutine") || !strings.Contains(a.body, "internal error") {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
}

// Whichever binding calls, a panic of the handler ends in the guard.
func TestGuardRescues(t *testing.T) {
	h := &fakeHandler{
		send: func(context.Context, *a2a.SendMessageRequest) (a2a.SendMessageResult, error) { panic("x") },
		stream: func(context.Context, *a2a.SendMessageRequest) unplaced {
			return func(yield func(a2a.Event, error) bool) {
				yield(&a2a.Task{}, nil)
				panic("x")
			}
		},
	}
	g := guard.New(guard.Config{Handler: h, Kept: nothingKept{}, Promised: testCard("").Capabilities, Logger: slog.New(slog.DiscardHandler)})
	ctx := respond.WithRequestID(t.Context(), "req-9")
	hi := &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("hi"))}
	if _, err := g.SendMessage(ctx, hi); !errors.Is(err, a2a.ErrInternalError) || !strings.Contains(err.Error(), "req-9") {
		t.Errorf("SendMessage: %v", err)
	}
	var n int
	for _, err := range g.Stream(ctx, hi, "") {
		if n++; n == 2 && !errors.Is(err, a2a.ErrInternalError) {
			t.Errorf("SendStreamingMessage: %v", err)
		}
	}
	if n != 2 {
		t.Errorf("%d events, want the task and the error", n)
	}
}

func TestSmallCorrections(t *testing.T) {
	ts := start(t, Config{})
	for body, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"ListTasks"}`:                                                `"tasks":[]`,
		`{"jsonrpc":"2.0","id":1,"method":"DeleteTaskPushNotificationConfig","params":{}}`:             `"result":{}`,
		`{"jsonrpc":"2.0","id":1,"method":"tasks/pushNotificationConfig/delete","params":{"id":"T1"}}`: `"result":null`,
		`{"jsonrpc":"2.0","id":1,"method":"tasks/pushNotificationConfig/list","params":{"id":"T1"}}`:   `"result":[]`,
		`{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard"}`:                                     `"name":"codex"`,
		`{"jsonrpc":"2.0","id":1,"method":"agent/getAuthenticatedExtendedCard"}`:                       `"protocolVersion":"0.3"`,
	} {
		if got := do(t, "POST", ts.URL, body).body; !strings.Contains(strings.ReplaceAll(got, " ", ""), want) {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}
