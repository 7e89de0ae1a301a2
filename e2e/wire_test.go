package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// wire writes a request as the platform's own client does, down to its headers, and
// returns the answer with the bytes of its body.
func (w *workspace) wire(body string) (*http.Response, string) {
	w.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.URL, "http://"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: ws-0123456789ab:8000\r\nUser-Agent: Go-http-client/1.1\r\nContent-Length: %d\r\n"+
		"Content-Type: application/json\r\nAccept-Encoding: gzip\r\n\r\n%s", len(body), body)
	if err != nil {
		w.t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	said, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	if res.Proto != "HTTP/1.1" || res.ContentLength != int64(len(said)) || res.Header.Get("Content-Encoding") != "" ||
		!strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") {
		w.t.Errorf("%s, %d bytes, %v", res.Proto, res.ContentLength, res.Header)
	}
	return res, string(said)
}

// TestBytesOnTheWire posts what the platform was seen to send, in each of its ages, and
// holds the answers to the byte: their readers look for compact JSON, for the id as it
// came, for a first part that is text, and for nothing else around it.
func TestBytesOnTheWire(t *testing.T) {
	t.Parallel()
	w := startWorkspace(t)
	const reply = `{"jsonrpc":"2.0","id":ID,"result":{"contextId":"CONTEXT","kind":"message","messageId":"TASK-reply","metadata":{"usage":{USAGE}},` +
		`"parts":[{"kind":"text","text":"TEXT"}],"role":"agent","taskId":"TASK","usage":{"input_tokens":10,"output_tokens":5}}}` + "\n"
	for name, c := range map[string]struct{ body, id, context, text, want string }{
		"april": {`{"id":"5b1d0a52-7c65-4a0a-9d43-5d2f6f0a7e01","jsonrpc":"2.0","method":"message/send","params":{"message":{"messageId":"5b1d0a52-7c65-4a0a-9d43-5d2f6f0a7e02","parts":[{"text":"say hi","type":"text"}],"role":"user"}}}`,
			`"5b1d0a52-7c65-4a0a-9d43-5d2f6f0a7e01"`, "canvas-ws-1", "hi", reply},
		"june": {`{"id":"5b1d0a52-7c65-4a0a-9d43-5d2f6f0a7e03","jsonrpc":"2.0","method":"message/send","params":{"message":{"messageId":"5b1d0a52-7c65-4a0a-9d43-5d2f6f0a7e04","parts":[{"kind":"text","text":"say hi"}],"role":"user"}}}`,
			`"5b1d0a52-7c65-4a0a-9d43-5d2f6f0a7e03"`, "canvas-ws-1", "hi", reply},
		"august": {`{"id":"5b1d0a52-7c65-4a0a-9d43-5d2f6f0a7e05","jsonrpc":"2.0","method":"message/send","params":{"message":{"contextId":"canvas-ws-1","messageId":"5b1d0a52-7c65-4a0a-9d43-5d2f6f0a7e06","parts":[{"kind":"text","text":"say hi"}],"role":"user"},"metadata":{"email":"","source":"canvas_user","user_id":"u-1","user_identity_status":"verified","username":"u"}}}`,
			`"5b1d0a52-7c65-4a0a-9d43-5d2f6f0a7e05"`, "canvas-ws-1", "hi", reply},
		"delegation of april": {`{"id":"5b1d0a52-7c65-4a0a-9d43-5d2f6f0a7e07","jsonrpc":"2.0","method":"message/send","params":{"message":{"messageId":"5b1d0a52-7c65-4a0a-9d43-5d2f6f0a7e08","metadata":{"delegation_id":"5b1d0a52-7c65-4a0a-9d43-5d2f6f0a7e08"},"parts":[{"text":"say done","type":"text"}],"role":"user"}}}`,
			`"5b1d0a52-7c65-4a0a-9d43-5d2f6f0a7e07"`, "", "done", reply},
		"delegation of june": {`{"id":"5b1d0a52-7c65-4a0a-9d43-5d2f6f0a7e09","jsonrpc":"2.0","method":"message/send","params":{"message":{"messageId":"5b1d0a52-7c65-4a0a-9d43-5d2f6f0a7e10","metadata":{"delegation_id":"5b1d0a52-7c65-4a0a-9d43-5d2f6f0a7e10"},"parts":[{"kind":"text","text":"say done"}],"role":"user"}}}`,
			`"5b1d0a52-7c65-4a0a-9d43-5d2f6f0a7e09"`, "", "done", reply},
		"the caller's own id": {`{"id":"custom-id-123","jsonrpc":"2.0","method":"message/send","params":{"message":{"messageId":"m-1","parts":[{"text":"say hi","type":"text"}],"role":"user"}}}`,
			`"custom-id-123"`, "canvas-ws-1", "hi", reply},
		"a method that is none": {`{"id":"e-1","jsonrpc":"2.0","method":"tasks/nothing","params":{}}`,
			`"e-1"`, "", "", `{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,`},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			res, said := w.wire(c.body)
			if res.StatusCode != http.StatusOK {
				t.Fatalf("%s: %s", res.Status, said)
			}
			var answer struct {
				Result struct {
					TaskID    string
					ContextID string
					Metadata  struct{ Usage json.RawMessage }
				}
			}
			if err := json.Unmarshal([]byte(said), &answer); err != nil {
				t.Fatalf("%v: %s", err, said)
			}
			if c.context == "" { // an agent that does not say who it is has a conversation for each message
				if c.context = answer.Result.ContextID; c.want == reply && !strings.HasPrefix(c.context, "peer:?/") {
					t.Errorf("it is answered in %q", c.context)
				}
			}
			usage := strings.Trim(string(answer.Result.Metadata.Usage), "{}")
			want := strings.NewReplacer("ID", c.id, "CONTEXT", c.context, "TASK", answer.Result.TaskID, "TEXT", c.text, "USAGE", usage).Replace(c.want)
			if said != want && (c.want == reply || !strings.HasPrefix(said, want)) {
				t.Errorf("answered\n%s\nwant\n%s", said, want)
			}
			if _, again := w.wire(c.body); again != said {
				t.Errorf("sent again it is answered\n%s\nand was\n%s", again, said)
			}
		})
	}
}
