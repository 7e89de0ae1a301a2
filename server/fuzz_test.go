package server

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// FuzzJSONRPC holds the door to its promise: whatever comes in, what goes out
// is a JSON-RPC response or a stream of them, without a word of the decoder.
func FuzzJSONRPC(f *testing.F) {
	for _, seed := range []string{
		v0Hi, v1Hi, v0Stream, v1Stream, "", "[]", "{}", `{"jsonrpc":"2.0","id":1,"method":"x/y","params":[]}`,
		v0Send1(`{"messageId":"m","role":"user","parts":["x",{"type":"file","file":{"bytes":"aGk"}},{"kind":"data","data":{}}]}`),
		v0Send1(`{"messageId":"m","role":"user","content":{"text":"x"}}`), v1Send(`{"message":{"message_id":"m","parts":[{"a_b":[[{"c_d":1}]]}]}}`),
		`{"jsonrpc":"2.0","id":12345678901234567890,"method":"ListTasks","params":{"page_size":1e9}}`,
	} {
		f.Add([]byte(seed))
	}
	for _, part := range keptParts() {
		f.Add([]byte(v0Send1(`{"messageId":"m","role":"user","parts":[{"kind":"text","text":"x"},` + part + `]}`)))
		f.Add([]byte(v1Send(`{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"},` + part + `]}}`)))
	}
	handler := newServer(f, Config{Handler: engine(f)}).Handler()
	f.Fuzz(func(t *testing.T, body []byte) {
		defer listed(t, handler, body)
		r := httptest.NewRequest(http.MethodPost, "http://localhost/", bytes.NewReader(body))
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != 200 {
			t.Fatalf("status %d: %s", w.Code, w.Body)
		}
		out := []string{w.Body.String()}
		if w.Header().Get("Content-Type") == "text/event-stream" {
			out = answer{body: w.Body.String()}.sseData()
		}
		for _, line := range out {
			var res struct {
				JSONRPC string
				ID      *json.RawMessage
				Result  json.RawMessage
				Error   *rpcErrorText
			}
			if err := json.Unmarshal([]byte(line), &res); err != nil || res.JSONRPC != "2.0" || (res.Result == nil) == (res.Error == nil) {
				t.Fatalf("%v in %q", err, line)
			}
			if res.Error != nil && (leak(res.Error.Message) != "" || res.Error.Code == -32603) {
				t.Fatalf("for %q: %s", body, line)
			}
		}
	})
}

// FuzzREST does the same for the HTTP+JSON doors: an answer is JSON or a stream
// of it, is no failure of ours, and an error is one of the binding's or a refusal.
func FuzzREST(f *testing.F) {
	v1 := `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}`
	v0 := `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"hi"},{"file":{"fileWithUri":"x"}},{"data":{"data":{}}}]}}`
	for _, seed := range [][2]string{
		{"POST /message:send", v1}, {"POST /message:stream", v1}, {"POST /v1/message:send", v0}, {"POST /v1/message:stream", v0},
		{"POST /message:send", `{"message":{"message_id":"m","role":"ROLE_USER","parts":[{"raw":"aGk"},{"data":[1e9]}]},"configuration":{"history_length":1}}`},
		{"GET /tasks?pageSize=7&historyLength=0&includeArtifacts=true&statusTimestampAfter=2026-01-02T03:04:05Z", ""},
		{"GET /tasks?page_token=x&status=TASK_STATE_WORKING", ""}, {"GET /tasks/T%2F1?historyLength=1", ""}, {"POST /tasks/T1:cancel", `{"metadata":{}}`},
		{"GET /tasks/T1:subscribe", ""}, {"POST /tasks/T1/pushNotificationConfigs", `{"url":"x"}`}, {"DELETE /tasks/T1/pushNotificationConfigs/c", ""},
		{"GET /v1/tasks?pageSize=1&lastUpdatedAfter=x", ""}, {"GET /v1/tasks/T1?historyLength=9", ""}, {"POST /v1/tasks/T1:cancel", ""},
		{"POST /v1/tasks/T1:subscribe", ""}, {"GET /v1/card", ""}, {"GET /extendedAgentCard?A2A-Version=1.0", ""}, {"PUT /tasks", ""}, {"GET //../tasks/%00", ""},
	} {
		f.Add(seed[0], []byte(seed[1]))
	}
	for _, part := range keptParts() {
		f.Add("POST /v1/message:send", []byte(`{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"x"},`+part+`]}}`))
	}
	handler := newServer(f, Config{Handler: engine(f)}).Handler()
	f.Fuzz(func(t *testing.T, route string, body []byte) {
		defer listed(t, handler, body)
		method, path, _ := strings.Cut(route, " ")
		u, err := url.ParseRequestURI(path)
		if err != nil || u.Host != "" || method == http.MethodHead || strings.Contains(u.Path, "metrics") {
			t.Skip()
		}
		r := httptest.NewRequest(http.MethodPost, "http://localhost/", bytes.NewReader(body))
		r.Method, r.URL, r.RequestURI = method, u, path
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		out := []string{w.Body.String()}
		if w.Header().Get("Content-Type") == "text/event-stream" {
			out = answer{body: w.Body.String()}.sseData()
		}
		for _, line := range out {
			if w.Code >= 500 && w.Code != http.StatusNotImplemented || leak(line) != "" || !json.Valid([]byte(line)) || w.Code >= 400 && !strings.Contains(line, `"error":`) {
				t.Fatalf("%q with %q: %d %s", route, body, w.Code, line)
			}
		}
	})
}

// listed looks that the list goes on after a request: nothing was kept that cannot be read.
func listed(t *testing.T, handler http.Handler, body []byte) {
	for _, path := range []string{"/tasks?pageSize=1", "/v1/tasks?pageSize=1"} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil))
		if w.Code != http.StatusOK || strings.Contains(w.Body.String(), unreadWords) {
			t.Errorf("after %q, %s: %d %s", body, path, w.Code, w.Body)
		}
	}
}

type rpcErrorText struct {
	Code    int
	Message string
}
