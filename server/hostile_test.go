package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
)

// A refusal is what a hostile request gets, in the terms of both bindings.
type refusal struct {
	code, status int
	reason, text string
}

func badParams(text string) refusal  { return refusal{-32602, 400, "INVALID_PARAMS", text} }
func badRequest(text string) refusal { return refusal{-32600, 400, "INVALID_REQUEST", text} }
func badJSON(text string) refusal    { return refusal{-32700, 400, "PARSE_ERROR", text} }
func noTask(text string) refusal     { return refusal{-32001, 404, "TASK_NOT_FOUND", text} }
func noMethod(text string) refusal   { return refusal{-32601, 501, "METHOD_NOT_FOUND", text} }

// wantRPC checks a JSON-RPC answer, which is 200 whatever it says.
func (want refusal) wantRPC(t testing.TB, a answer, v0 bool) {
	t.Helper()
	got := a.rpc(t)
	if a.status != 200 || got.Error == nil || got.Error.Code != want.code || !strings.Contains(got.Error.Message, want.text) {
		t.Fatalf("status %d, body %.400s; want %+v", a.status, a.body, want)
	}
	if ct := a.header.Get("Content-Type"); ct != "application/json" || len(a.body) > 1024 {
		t.Errorf("%s: %d bytes", ct, len(a.body))
	}
	data := string(got.Error.Data)
	if v0 {
		if data != "" {
			t.Errorf("data = %s, and clients of 0.3 do not agree on what it is", data)
		}
		return
	}
	if !want.explainedBy(data) || data[0] != '[' {
		t.Errorf("data = %s, want an ErrorInfo in a list", data)
	}
}

// explainedBy reports whether there is an ErrorInfo that says why, and of which task.
func (want refusal) explainedBy(details string) bool {
	return strings.Contains(details, `"@type":"type.googleapis.com/google.rpc.ErrorInfo"`) && strings.Contains(details, `"domain":"a2a-protocol.org"`) &&
		strings.Contains(details, `"reason":"`+want.reason+`"`) && (want.reason != "TASK_NOT_FOUND" || strings.Contains(details, `"metadata":{"taskId":"`))
}

// wantREST checks an answer by AIP-193.
func (want refusal) wantREST(t testing.TB, a answer) {
	t.Helper()
	var got wire.RESTError
	if err := json.Unmarshal([]byte(a.body), &got); err != nil {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if a.status != want.status || got.Error.Code != want.status || got.Error.Status == "" || !strings.Contains(got.Error.Message, want.text) ||
		!want.explainedBy(a.body) {
		t.Errorf("status %d, body %.400s; want %+v", a.status, a.body, want)
	}
	if ct := a.header.Get("Content-Type"); ct != "application/json" || len(a.body) > 1024 {
		t.Errorf("%s: %d bytes", ct, len(a.body))
	}
}

// mostBrackets may be open at once.
const mostBrackets = 40

func nested(n int, open, inner, shut string) string {
	return strings.Repeat(open, n) + inner + strings.Repeat(shut, n)
}

// TestHostileEnvelopes: what cannot be read as a call.
func TestHostileEnvelopes(t *testing.T) {
	rpc := func(member string) string { return `{"jsonrpc":"2.0","id":1,` + member + `}` }
	tests := []struct {
		name, body string
		want       refusal
	}{
		{"empty", "", badJSON("empty")},
		{"blank", " \n", badJSON("empty")},
		{"malformed", `{"jsonrpc":`, badJSON("well-formed")},
		{"trailing", v1Hi + "x", badJSON("well-formed")},
		{"two", v1Hi + v1Hi, badJSON("well-formed")},
		{"byteOrderMark", "\ufeff" + v1Hi, badJSON("well-formed")},
		{"utf16", "{\x00}\x00", badJSON("well-formed")},
		{"notANumber", rpc(`"method":"GetTask","params":{"id":NaN}`), badJSON("well-formed")},
		{"batch", "[" + v1Hi + "]", badRequest("batches")},
		{"emptyBatch", "[]", badRequest("batches")},
		{"string", `"x"`, badRequest("object")},
		{"number", `1e400`, badRequest("object")},
		{"null", `null`, badRequest("object")},
		{"nestedOpen", strings.Repeat("[", 10_000), badJSON("well-formed")},
		{"nestedClosed", nested(10_000, "[", "", "]"), badRequest("batches")},
		{"nestedParams", rpc(`"method":"GetTask","params":` + nested(10_000, "[", "1", "]")), badParams("at most 40 levels")},
		{"nestedObjects", v1Send(nested(mostBrackets-1, `{"a_b":`, "1", "}")), badParams("message is missing")},
		{"nestedArrays", v1Send(`{"message_x":` + nested(mostBrackets-2, "[", "1", "]") + `}`), badParams("message is missing")},
		{"nestedMetadata", v1Send(`{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}],"metadata":` + nested(9_995, `{"a":`, "1", "}") + `}}`), badParams("at most 40 levels")},
		{"notUTF8", strings.Replace(v1Hi, "hi", "\xff", 1), badJSON("UTF-8")},
		{"notUTF8ID", strings.Replace(v1Hi, `1,`, "\"\xff\",", 1), badJSON("UTF-8")},
		{"longID", strings.Replace(v1Hi, `"id":1`, `"id":"`+strings.Repeat("x", 511)+`"`, 1), badRequest("longer than 512 bytes")},
		{"longNumberID", strings.Replace(v1Hi, `"id":1`, `"id":`+strings.Repeat("1", 513), 1), badRequest("longer than 512 bytes")},
		{"upperCase", `{"jsonrpc":"2.0","id":1,"METHOD":"GetTask"}`, badRequest("must be written method")},
		{"upperCaseID", `{"jsonrpc":"2.0","ID":1,"method":"GetTask"}`, badRequest("must be written id")},
		{"twoIDs", `{"jsonrpc":"2.0","id":1,"id":2,"method":"GetTask"}`, badRequest(`"id" is there twice`)},
		{"twoMethods", rpc(`"method":"GetTask","method":"CancelTask"`), badRequest(`"method" is there twice`)},
		{"nestedParts", v1Send(`{"message":{"messageId":"m","role":"ROLE_USER","parts":` + nested(30, "[", "1", "]") + `}}`), badParams("parts[0] must be an object")},
		{"nestedPartsV0", v0Send1(`{"messageId":"m","role":"user","parts":` + nested(30, "[", "1", "]") + `}`), badParams("parts[0] must be an object")},
		{"noVersion", `{"id":1,"method":"GetTask"}`, badRequest("jsonrpc")},
		{"wrongVersion", `{"jsonrpc":"1.0","id":1,"method":"GetTask"}`, badRequest("jsonrpc")},
		{"numberVersion", `{"jsonrpc":2.0,"id":1,"method":"GetTask"}`, badRequest("jsonrpc")},
		{"notification", `{"jsonrpc":"2.0","method":"GetTask"}`, badRequest("notifications")},
		{"notificationV0", `{"jsonrpc":"2.0","method":"message/send","params":{"message":{"messageId":"n","role":"user","parts":[{"text":"x"}]}}}`, badRequest("notifications")},
		{"notificationOfNothing", `{"jsonrpc":"2.0","method":"message/ssend","params":{}}`, noMethod(`"message/ssend"`)},
		{"notificationOfAMessage", `{"jsonrpc":"2.0","method":"message/stream","params":{"":"not_a_dict"}}`, badParams("message is missing")},
		{"notificationOfAnArray", `{"jsonrpc":"2.0","method":"tasks/get","params":[]}`, badParams("object")},
		{"notificationOfAnOldVersion", `{"jsonrpc":"aaa","method":"message/send","params":{}}`, badRequest("jsonrpc")},
		{"objectID", `{"jsonrpc":"2.0","id":{},"method":"GetTask"}`, badRequest("id must be")},
		{"arrayID", `{"jsonrpc":"2.0","id":[1],"method":"GetTask"}`, badRequest("id must be")},
		{"trueID", `{"jsonrpc":"2.0","id":true,"method":"GetTask"}`, badRequest("id must be")},
		{"falseID", `{"jsonrpc":"2.0","id":false,"method":"GetTask"}`, badRequest("id must be")},
		{"noMethod", `{"jsonrpc":"2.0","id":1}`, badRequest("method is missing")},
		{"emptyMethod", rpc(`"method":""`), badRequest("empty")},
		{"numberMethod", rpc(`"method":7`), noMethod("string")},
		{"objectMethod", rpc(`"method":{}`), noMethod("string")},
		{"unknownMethod", rpc(`"method":"Dance"`), noMethod(`no method "Dance"`)},
		{"unknownMethodV0", rpc(`"method":"tasks/list"`), noMethod(`no method "tasks/list"`)},
		{"otherCase", rpc(`"method":"getTask"`), noMethod(`"getTask"`)},
		{"longMethod", rpc(`"method":"` + strings.Repeat("x", 1<<20) + `"`), noMethod("…")},
		{"controlsInMethod", rpc(`"method":"\u0000\u001b[2J"`), noMethod(`\x00`)},
		{"arrayParams", rpc(`"method":"GetTask","params":["T1"]`), badParams("object")},
		{"stringParams", rpc(`"method":"GetTask","params":"T1"`), badParams("object")},
		{"numberParams", rpc(`"method":"tasks/get","params":-0`), badParams("object")},
	}
	ts := start(t, Config{Handler: engine(t)})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.wantRPC(t, do(t, "POST", ts.URL, tt.body), strings.Contains(tt.body, `"tasks/`) || strings.Contains(tt.body, `"message/`))
		})
	}
}

// TestHostileCalls: calls whose params make no sense, by every method that takes
// them.
func TestHostileCalls(t *testing.T) {
	ts := start(t, Config{Handler: engine(t)})
	tests := []struct {
		methods, params string
		want            refusal
	}{
		{"GetTask CancelTask SubscribeToTask tasks/get tasks/cancel", `{}`, badParams("id of the task")},
		{"GetTask CancelTask SubscribeToTask tasks/get tasks/cancel", `{"id":""}`, badParams("id of the task")},
		{"GetTask CancelTask SubscribeToTask tasks/get tasks/cancel", `{"id":null}`, badParams("id of the task")},
		{"GetTask CancelTask SubscribeToTask tasks/get tasks/cancel", `{"id":7}`, badParams("number")},
		{"GetTask CancelTask SubscribeToTask tasks/get tasks/cancel", `{"id":["x"]}`, badParams("array")},
		{"GetTask CancelTask SubscribeToTask tasks/get tasks/cancel", `{"id":{"a":1}}`, badParams("object")},
		{"GetTask CancelTask SubscribeToTask tasks/get tasks/cancel", `{"id":"nope"}`, noTask("nope")},
		{"GetTask CancelTask SubscribeToTask tasks/get tasks/cancel", `{"id":"` + strings.Repeat("x", 100_000) + `"}`, noTask("there is no task")},
		{"GetTask CancelTask SubscribeToTask tasks/get tasks/cancel", `{"id":"../../etc/passwd"}`, noTask("there is no task")},
		{"GetTask tasks/get", `{"id":"nope","historyLength":-1}`, badParams("historyLength")},
		{"GetTask tasks/get", `{"id":"nope","historyLength":-9223372036854775808}`, badParams("historyLength")},
		{"GetTask tasks/get", `{"id":"nope","historyLength":1e400}`, badParams("historyLength")},
		{"GetTask tasks/get", `{"id":"nope","historyLength":1.5}`, badParams("historyLength")},
		{"GetTask tasks/get", `{"id":"nope","historyLength":99999999999999999999}`, badParams("historyLength")},
		{"GetTask", `{"id":"nope","historyLength":"two"}`, badParams("historyLength")},
		{"tasks/get", `{"id":"nope","historyLength":"two"}`, badParams("string")},
		{"GetTask", `{"id":"nope","historyLength":"1.5"}`, badParams("historyLength")},
		{"GetTask", `{"id":"nope","historyLength":"0x10"}`, badParams("historyLength")},
		{"GetTask", `{"id":"nope","historyLength":true}`, badParams("historyLength")},
		{"GetTask", `{"id":"nope","historyLength":"1e1"}`, noTask("nope")},
		{"GetTask CancelTask SubscribeToTask tasks/get tasks/cancel", `{"Id":"nope"}`, badParams("must be written id")},
		{"GetTask CancelTask SubscribeToTask tasks/get tasks/cancel", `{"id":"nope","id":"nope"}`, badParams("twice")},
		{"ListTasks", `{"historyLength":-1}`, badParams("historyLength")},
		{"ListTasks", `{"status":"TASK_STATE_DANCING"}`, badParams("DANCING")},
		{"ListTasks", `{"status":9}`, badParams("number")},
		{"ListTasks", `{"pageSize":4294967296}`, badParams("between 1 and 100")},
		{"ListTasks", `{"historyLength":2147483648}`, badParams("32 bits")},
		{"ListTasks", `{"pageSize":101}`, badParams("between")},
		{"ListTasks", `{"pageSize":-1}`, badParams("between")},
		{"ListTasks", `{"pageSize":99999999999999999999}`, badParams("pageSize")},
		{"ListTasks", `{"pageToken":"%"}`, badParams("pageToken")},
		{"ListTasks", `{"pageToken":"` + strings.Repeat("eA", 9000) + `"}`, badParams("pageToken")},
		{"ListTasks", `{"statusTimestampAfter":"yesterday"}`, badParams("timestamp")},
		{"ListTasks", `{"statusTimestampAfter":-1}`, badParams("")},
		{"ListTasks", `{"includeArtifacts":"yes"}`, badParams("includeArtifacts")},
		{"CreateTaskPushNotificationConfig GetTaskPushNotificationConfig ListTaskPushNotificationConfigs DeleteTaskPushNotificationConfig", `{}`,
			refusal{-32003, 400, "PUSH_NOTIFICATION_NOT_SUPPORTED", "push notifications are not supported"}},
		{"tasks/pushNotificationConfig/set tasks/pushNotificationConfig/get tasks/pushNotificationConfig/list tasks/pushNotificationConfig/delete", `{"id":"nope"}`,
			refusal{-32003, 400, "PUSH_NOTIFICATION_NOT_SUPPORTED", "push notifications are not supported"}},
	}
	for _, tt := range tests {
		for method := range strings.FieldsSeq(tt.methods) {
			t.Run(fmt.Sprintf("%s/%.60s", method, tt.params), func(t *testing.T) {
				tt.want.wantRPC(t, do(t, "POST", ts.URL, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, tt.params)), strings.Contains(method, "/"))
			})
		}
	}
}

// TestBoundsOfHostileSizes: a body of the largest size is refused before it has cost
// anything to speak of, at every door.
func TestBoundsOfHostileSizes(t *testing.T) {
	longtest.Mark(t)
	ts := start(t, Config{Handler: engine(t)})
	fill := func(head, one, tail string) string {
		return head + strings.TrimSuffix(strings.Repeat(one+",", (4<<20)/(len(one)+1)), ",") + tail
	}
	for name, tt := range map[string]struct{ params, want string }{
		"parts":    {fill(`{"message":{"messageId":"m","role":"ROLE_USER","parts":[`, `{}`, `]}}`), "more than 1000 parts"},
		"content":  {fill(`{"message":{"messageId":"m","role":"ROLE_USER","content":[`, `{}`, `]}}`), "more than 1000 parts"},
		"metadata": {fill(`{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}],"metadata":{"a":[`, `{}`, `]}}}`), "values"},
		"names":    {fill(`{`, `"Xy":0`, `}`), "values"},
		"escaped":  {fill(`{`, `"\u0058y":0`, `}`), "values"},
	} {
		for _, door := range []string{"SendMessage", "message/send", "/message:send", "/v1/message:send"} {
			t.Run(name+"/"+strings.ReplaceAll(strings.TrimPrefix(door, "/"), "/", "_"), func(t *testing.T) {
				begin := time.Now()
				if strings.HasPrefix(door, "/") {
					badParams(tt.want).wantREST(t, do(t, "POST", ts.URL+door, tt.params))
				} else {
					badParams(tt.want).wantRPC(t, do(t, "POST", ts.URL, `{"jsonrpc":"2.0","id":1,"method":"`+door+`","params":`+tt.params+`}`), strings.Contains(door, "/"))
				}
				if took := time.Since(begin); took > time.Minute { // a second, on a machine of its own
					t.Errorf("took %v", took)
				}
			})
		}
	}
}
