package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// A v0 speaks 0.3 over JSON-RPC, the way the 0.3.x suite does.
type v0 struct{ url string }

// A v0Reply is an answer in the terms of 0.3.
type v0Reply struct {
	status int
	body   string
	id     any
	result any
	code   int
	text   string
}

// do makes a plain request and returns its answer.
func do(t testing.TB, method, url, body string, header ...string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(b)
}

func card(t *testing.T, url string) any {
	t.Helper()
	status, header, body := do(t, "GET", url+"/.well-known/agent-card.json", "")
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil || status != 200 || header.Get("Content-Type") != "application/json" {
		t.Fatalf("%d %v %s", status, err, body)
	}
	return v
}

func readV0(t testing.TB, status int, body string) v0Reply {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatalf("%d %s", status, body)
	}
	code, _ := at(v, "error", "code").(float64)
	r := v0Reply{status: status, body: body, id: at(v, "id"), result: at(v, "result"), code: int(code), text: str(v, "error", "message")}
	members, _ := v.(object)
	_, answered := members["result"] // null is an answer
	if str(v, "jsonrpc") != "2.0" || answered != (r.code == 0) || (r.code == 0) != (r.text == "") {
		t.Errorf("not a JSON-RPC response: %s", body)
	}
	return r
}

// raw posts a body as it is.
func (c v0) raw(t testing.TB, body string) v0Reply {
	t.Helper()
	status, _, got := do(t, "POST", c.url, body)
	return readV0(t, status, got)
}

func (c v0) call(t testing.TB, method string, params any) v0Reply {
	t.Helper()
	return c.raw(t, v0Body(t, method, params))
}

func v0Body(t testing.TB, method string, params any) string {
	t.Helper()
	b, err := json.Marshal(object{"jsonrpc": "2.0", "id": "req-1", "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// refused checks the code of an error.
func (r v0Reply) refused(t testing.TB, code int) {
	t.Helper()
	if r.code != code || r.status != 200 {
		t.Errorf("%d %s, want %d", r.status, r.body, code)
	}
}

// v0Message is one of the suite's messages: its id says nothing to the scripts.
func v0Message(more ...any) object {
	m := object{"kind": "message", "messageId": "test-message-0badf00d", "role": "user",
		"parts": []any{object{"kind": "text", "text": "Hello from TCK!"}}}
	for i := 0; i+1 < len(more); i += 2 {
		m[more[i].(string)] = more[i+1]
	}
	return m
}

// send sends a message and returns its task, which has one of the states that
// the suite takes.
func (c v0) send(t testing.TB, more ...any) any {
	t.Helper()
	r := c.call(t, "message/send", object{"message": v0Message(more...)})
	switch str(r.result, "status", "state") {
	case "submitted", "working", "input-required", "completed":
	default:
		t.Fatalf("message/send: %s", r.body)
	}
	if str(r.result, "kind") != "task" || str(r.result, "id") == "" || str(r.result, "contextId") == "" {
		t.Errorf("task %v", r.result)
	}
	return r.result
}

// stream returns the data of all events of a stream, which is one even where it
// holds nothing but an error.
func (c v0) stream(t testing.TB, method string, params any) []v0Reply {
	t.Helper()
	status, header, body := do(t, "POST", c.url, v0Body(t, method, params), "Accept", "text/event-stream")
	if status != 200 || header.Get("Content-Type") != "text/event-stream" || header.Get("Cache-Control") != "no-cache" {
		t.Fatalf("%d %v %s", status, header, body)
	}
	var out []v0Reply
	for line := range strings.Lines(body) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			out = append(out, readV0(t, status, data))
		}
	}
	return out
}

// kinds renders the events of a stream in a word or two each.
func kinds(t testing.TB, events []v0Reply) string {
	t.Helper()
	var words []string
	for _, e := range events {
		word := str(e.result, "kind")
		if state := str(e.result, "status", "state"); state != "" {
			word += ":" + state
		}
		if at(e.result, "final") == true {
			word += ":final"
		}
		if e.code != 0 {
			word = fmt.Sprint(e.code)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}
