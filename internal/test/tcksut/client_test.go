package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// start serves a system under test.
func start(t *testing.T, opts options) string {
	t.Helper()
	if opts.card == "" {
		opts.card = cardV1
	}
	if opts.hold == 0 {
		opts.hold = 3 * time.Second
	}
	s, err := newSUT(opts)
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(s.server.Handler())
	t.Cleanup(func() {
		if err := s.close(context.Background()); err != nil {
			t.Error(err)
		}
		ts.CloseClientConnections()
		ts.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	return ts.URL
}

// object is a JSON object that has been read.
type object = map[string]any

// at returns what is under the keys, or nil.
func at(v any, keys ...any) any {
	for _, key := range keys {
		switch key := key.(type) {
		case string:
			m, _ := v.(object)
			v = m[key]
		case int:
			list, _ := v.([]any)
			if key < 0 {
				key += len(list)
			}
			if key < 0 || key >= len(list) {
				return nil
			}
			v = list[key]
		}
	}
	return v
}

func str(v any, keys ...any) string {
	s, _ := at(v, keys...).(string)
	return s
}

// A client speaks 1.0 in one binding, the way the suite does.
type client struct {
	url, binding string
	header       http.Header // of every request
}

const (
	jsonrpc  = "jsonrpc"
	httpJSON = "http_json"
)

// A reply is an answer in terms of the protocol.
type reply struct {
	status int
	header http.Header
	body   string
	result any
	failed bool
	code   int    // of JSON-RPC, or the status
	reason string // of the ErrorInfo
	text   string
	info   any // the ErrorInfo
}

// route is where the HTTP+JSON binding has an operation.
func route(op string, params object) (method, path string, body any) {
	task := url.PathEscape(str(params, "id"))
	owner := url.PathEscape(str(params, "taskId"))
	switch op {
	case "SendMessage":
		return "POST", "/message:send", params
	case "SendStreamingMessage":
		return "POST", "/message:stream", params
	case "GetTask":
		return "GET", "/tasks/" + task + query(params, "id"), nil
	case "ListTasks":
		return "GET", "/tasks" + query(params), nil
	case "CancelTask":
		return "POST", "/tasks/" + task + ":cancel", nil
	case "SubscribeToTask":
		return "POST", "/tasks/" + task + ":subscribe", nil
	case "CreateTaskPushNotificationConfig":
		return "POST", "/tasks/" + owner + "/pushNotificationConfigs", params
	case "ListTaskPushNotificationConfigs":
		return "GET", "/tasks/" + owner + "/pushNotificationConfigs", nil
	case "GetTaskPushNotificationConfig":
		return "GET", "/tasks/" + owner + "/pushNotificationConfigs/" + task, nil
	case "DeleteTaskPushNotificationConfig":
		return "DELETE", "/tasks/" + owner + "/pushNotificationConfigs/" + task, nil
	case "GetExtendedAgentCard":
		return "GET", "/extendedAgentCard", nil
	}
	panic("no such operation: " + op)
}

func query(params object, without ...string) string {
	q := url.Values{}
	for name, v := range params {
		if len(without) == 0 || name != without[0] {
			q.Set(name, fmt.Sprint(v))
		}
	}
	if len(q) == 0 {
		return ""
	}
	return "?" + q.Encode()
}

func (c client) open(t testing.TB, op string, params object) *http.Response {
	t.Helper()
	method, path, body := "POST", "/", any(object{"jsonrpc": "2.0", "id": 7, "method": op, "params": params})
	if c.binding == httpJSON {
		method, path, body = route(op, params)
	}
	var text io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, c.url+path, text)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = c.header.Clone()
	if req.Header == nil {
		req.Header = http.Header{}
	}
	if text != nil && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if req.Header.Get("A2A-Version") == "" {
		req.Header.Set("A2A-Version", "1.0")
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func (c client) call(t testing.TB, op string, params object) reply {
	t.Helper()
	res := c.open(t, op, params)
	defer res.Body.Close()
	return c.read(t, res)
}

func (c client) read(t testing.TB, res *http.Response) reply {
	t.Helper()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	r := reply{status: res.StatusCode, header: res.Header, body: string(b)}
	var body any
	if err := json.Unmarshal(b, &body); err != nil {
		t.Fatalf("%s: %d %s", res.Request.URL, res.StatusCode, b)
	}
	failure := at(body, "error")
	r.failed = failure != nil
	r.text = str(failure, "message")
	code, _ := at(failure, "code").(float64)
	r.code = int(code)
	details := at(failure, "data")
	if c.binding == httpJSON {
		r.result, details = body, at(failure, "details")
	} else {
		r.result = at(body, "result")
	}
	list, _ := details.([]any)
	for _, d := range list {
		if str(d, "@type") == "type.googleapis.com/google.rpc.ErrorInfo" {
			r.info, r.reason = d, str(d, "reason")
		}
	}
	return r
}

// message is one of the suite's messages: their ids are the same throughout a
// run, whatever they say.
func message(prefix string, more ...any) object {
	m := object{"messageId": prefix + "-0badf00d", "role": "ROLE_USER", "parts": []any{object{"text": "Hello from TCK"}}}
	for i := 0; i+1 < len(more); i += 2 {
		m[more[i].(string)] = more[i+1]
	}
	return m
}

// send sends a message and returns its task.
func (c client) send(t testing.TB, prefix string, more ...any) any {
	t.Helper()
	r := c.call(t, "SendMessage", object{"message": message(prefix, more...)})
	if r.failed || at(r.result, "task") == nil {
		t.Fatalf("%s: %s", prefix, r.body)
	}
	return at(r.result, "task")
}

func (c client) wantState(t testing.TB, task any, state string) {
	t.Helper()
	if got := short(str(task, "status", "state")); got != state {
		t.Errorf("%s: state is %s, want %s", c.binding, got, state)
	}
}

// wantError checks an error in the terms of both bindings.
func (c client) wantError(t testing.TB, r reply, code, status int, reason string) {
	t.Helper()
	want, gotStatus := code, 200
	if c.binding == httpJSON {
		want, gotStatus = status, status
	}
	if !r.failed || r.code != want || r.reason != reason || r.status != gotStatus || r.text == "" ||
		str(r.info, "domain") != "a2a-protocol.org" || !strings.Contains(r.header.Get("Content-Type"), "json") {
		t.Errorf("%s: %d %s, want %d (%d) %s", c.binding, r.status, r.body, code, status, reason)
	}
}
