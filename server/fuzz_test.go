package server

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// FuzzJSONRPC holds the door to its promise: whatever comes in, what goes out
// is a JSON-RPC response or a stream of them, without a word of the decoder.
func FuzzJSONRPC(f *testing.F) {
	for _, seed := range []string{
		v0Hi, v1Hi, v0Stream, v1Stream, "", "[]", "{}", `{"jsonrpc":"2.0","id":1,"method":"x/y","params":[]}`,
		v0Send1(`{"parts":["x",{"type":"file","file":{"bytes":"aGk"}},{"kind":"data","data":{}}]}`),
		v0Send1(`{"content":{"text":"x"}}`), v1Send(`{"message":{"message_id":"m","parts":[{"a_b":[[{"c_d":1}]]}]}}`),
		`{"jsonrpc":"2.0","id":12345678901234567890,"method":"ListTasks","params":{"page_size":1e9}}`,
	} {
		f.Add([]byte(seed))
	}
	handler := newServer(f, Config{}).Handler()
	f.Fuzz(func(t *testing.T, body []byte) {
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
			if res.Error != nil && (strings.Contains(res.Error.Message, "json: ") || strings.Contains(res.Error.Message, "a2a.") || res.Error.Code == -32603) {
				t.Fatalf("for %q: %s", body, line)
			}
		}
	})
}

type rpcErrorText struct {
	Code    int
	Message string
}
