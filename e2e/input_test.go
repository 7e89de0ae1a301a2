package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestBadInput sends what no client should. Each gets an error that names what
// is wrong; none sees a stack trace, a file name of ours or the SDK's words
// about itself.
func TestBadInput(t *testing.T) {
	t.Parallel()
	p := start(t)
	big := `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"` +
		strings.Repeat("x", 17<<20) + `"}]}}}`
	cases := []struct {
		name, body string
		code       float64 // of the JSON-RPC error; 0 where HTTP's status says it
		status     int
	}{
		{"malformed", `{"jsonrpc":`, -32700, 200},
		{"not-an-object", `"hello"`, -32600, 200},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"GetTask"}]`, -32600, 200},
		{"brackets", strings.Repeat("[", 10_000), -32700, 200},
		{"unknown-method", `{"jsonrpc":"2.0","id":1,"method":"Nothing"}`, -32601, 200},
		{"unknown-old-method", `{"jsonrpc":"2.0","id":1,"method":"nothing/here"}`, -32601, 200},
		{"no-params", `{"jsonrpc":"2.0","id":1,"method":"SendMessage"}`, -32602, 200},
		{"no-parts", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[]}}}`, -32602, 200},
		{"blank", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"  \n"}]}}}`, -32602, 200},
		{"null-part", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[null]}}}`, -32602, 200},
		{"wizard", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"wizard","parts":[{"text":"x"}]}}}`, -32602, 200},
		{"unknown-task", `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"nobody"}}`, -32001, 200},
		{"unknown-task-03", `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"nobody"}}`, -32001, 200},
		{"push", `{"jsonrpc":"2.0","id":1,"method":"CreateTaskPushNotificationConfig","params":{"taskId":"t","url":"http://x/"}}`, -32001, 200},
		{"too-long", strings.Replace(big, strings.Repeat("x", 16<<20-1), "", 1), -32602, 200},
		{"too-big", big, -32600, http.StatusRequestEntityTooLarge},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			res, err := http.Post(p.URL+"/", "application/json", strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			var answer object
			if err := json.Unmarshal(body, &answer); err != nil {
				t.Fatalf("HTTP %d, not JSON: %s", res.StatusCode, body)
			}
			if res.StatusCode != c.status {
				t.Errorf("HTTP %d, want %d: %s", res.StatusCode, c.status, body)
			}
			if code := at(answer, "error", "code"); code != c.code {
				t.Errorf("code = %v, want %v: %s", code, c.code, body)
			}
			checkClean(t, body)
		})
	}
	if requests := p.Model.Requests(); len(requests) != 0 {
		t.Errorf("the model was asked %d times", len(requests))
	}
}

func TestWrongVersionAndType(t *testing.T) {
	t.Parallel()
	p := start(t)
	body := `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}`
	for _, c := range []struct {
		name, header, value string
		code                float64
	}{
		{"version", "A2A-Version", "99.0", -32009},
		{"type", "Content-Type", "text/plain", -32005},
	} {
		t.Run(c.name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL+"/", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set(c.header, c.value)
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			text, _ := io.ReadAll(res.Body)
			var answer object
			if err := json.Unmarshal(text, &answer); err != nil || at(answer, "error", "code") != c.code {
				t.Errorf("HTTP %d %s, want code %v", res.StatusCode, text, c.code)
			}
			checkClean(t, text)
		})
	}
}

// TestRepeatedMessage sends the same message three times, once in the other
// version: one task, one turn.
func TestRepeatedMessage(t *testing.T) {
	t.Parallel()
	p := start(t)
	first := p.send("m1", "one", "say once")
	if again := p.send("m1", "one", "say once"); again["id"] != first["id"] {
		t.Errorf("the repeated message became task %v, want %v", again["id"], first["id"])
	}
	old := p.call("message/send", object{"message": object{
		"kind": "message", "messageId": "m1", "contextId": "one", "role": "user",
		"parts": []object{{"type": "text", "text": "say once"}},
	}})
	if id := at(old, "result", "id"); id != first["id"] {
		t.Errorf("in 0.3 the repeated message became %v, want %v", old, first["id"])
	}
	other := p.call("SendMessage", object{"message": message("m1", "one", "say something else")})
	if at(other, "error", "code") != -32602.0 {
		t.Errorf("another text under the same id = %v, want -32602", other)
	}
	if n := len(p.Model.Requests()); n != 1 {
		t.Errorf("the model was asked %d times, want once", n)
	}
}

// TestReplyAsMessage is what the platform's readers need: a Message whose first
// part is the text.
func TestReplyAsMessage(t *testing.T) {
	t.Parallel()
	p := start(t, "RUNTIME_REPLY=message")
	params := func(id, text string) object {
		return object{"message": object{"messageId": id, "role": "user", "parts": []object{{"type": "text", "text": text}}}}
	}
	answer := p.call("message/send", params("m1", "say to the platform"))
	if at(answer, "result", "kind") != "message" {
		t.Fatalf("result = %v, want a message", answer)
	}
	if got, _ := at(answer, "result", "parts", 0, "text").(string); !strings.Contains(got, "to the platform") {
		t.Errorf("parts[0].text = %q", got)
	}
	failed := p.call("message/send", params("m2", "fail 400"))
	if got, _ := at(failed, "result", "parts", 0, "text").(string); !strings.HasPrefix(got, "[codex error] ") {
		t.Errorf("a failed turn is told as %v, want a message that begins with [codex error]", failed)
	}
}

func checkClean(t *testing.T, body []byte) {
	t.Helper()
	for _, bad := range []string{"goroutine ", ".go:", "panic", "a2asrv", "jsonrpc_server", "unmarshal"} {
		if bytes.Contains(body, []byte(bad)) {
			t.Errorf("the answer shows %q: %s", bad, body)
		}
	}
}
