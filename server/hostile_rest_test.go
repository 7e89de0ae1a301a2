package server

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestHostileREST: what else can be wrong with a request to the HTTP+JSON door.
func TestHostileREST(t *testing.T) {
	ts := start(t, Config{Handler: engine(t)})
	version := refusal{-32009, 400, "VERSION_NOT_SUPPORTED", "99.0"}
	media := refusal{-32005, 415, "CONTENT_TYPE_NOT_SUPPORTED", ""}
	push := refusal{-32003, 400, "PUSH_NOTIFICATION_NOT_SUPPORTED", "push notification"}
	hi := `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}`
	tests := []struct {
		name, route, body string
		want              refusal
		header            []string
	}{
		{"empty", "POST /message:send", "", badParams("message is missing"), nil},
		{"blank", "POST /message:send", " ", badJSON("well-formed"), nil},
		{"malformed", "POST /message:send", `{"message":`, badJSON("well-formed"), nil},
		{"two", "POST /message:stream", hi + hi, badJSON("well-formed"), nil},
		{"array", "POST /message:send", "[" + hi + "]", badParams("must be an object"), nil},
		{"scalar", "POST /message:send", `"x"`, badParams("must be an object"), nil},
		{"null", "POST /message:stream", `null`, badParams("message is missing"), nil},
		{"nestedOpen", "POST /message:send", strings.Repeat("[", 10_000), badJSON("well-formed"), nil},
		{"nestedClosed", "POST /message:send", nested(mostBrackets, "[", "", "]"), badParams("must be an object"), nil},
		{"nestedTooDeep", "POST /message:send", nested(10_001, "[", "", "]"), badParams("at most 40 levels"), nil},
		{"nestedObjects", "POST /message:send", nested(mostBrackets, `{"a_b":`, "1", "}"), badParams("message is missing"), nil},
		{"nestedPart", "POST /message:send", `{"message":{"messageId":"m","role":"ROLE_USER","parts":` + nested(30, "[", "1", "]") + `}}`, badParams("parts[0] must be an object"), nil},
		{"notUTF8", "POST /message:send", strings.Replace(hi, "hi", "\xff", 1), badJSON("UTF-8"), nil},
		{"notUTF8V0", "POST /v1/message:send", strings.Replace(hi, "hi", "\xed\xa0\x80", 1), badJSON("UTF-8"), nil},
		{"notUTF8Cancel", "POST /tasks/t:cancel", "{\"metadata\":{\"\xff\":1}}", badJSON("UTF-8"), nil},
		{"cancelMalformed", "POST /tasks/t:cancel", `{`, badJSON("well-formed"), nil},
		{"cancelArray", "POST /tasks/t:cancel", `[]`, badParams(""), nil},
		{"version", "POST /message:send", hi, version, []string{"A2A-Version", "99.0"}},
		{"versionInTheQuery", "GET /tasks?A2A-Version=99.0", "", version, nil},
		{"text", "POST /message:send", hi, media, []string{"Content-Type", "text/plain"}},
		{"form", "POST /message:stream", hi, media, []string{"Content-Type", "application/x-www-form-urlencoded"}},
		{"utf16", "POST /message:send", hi, media, []string{"Content-Type", "application/json; charset=utf-16"}},
		{"latin1", "POST /tasks/t:cancel", `{}`, media, []string{"Content-Type", "application/json; charset=iso-8859-1"}},
		{"unknownTask", "GET /tasks/nope", "", noTask(`"nope"`), nil},
		{"unknownTaskCancel", "POST /tasks/nope:cancel", "", noTask(`"nope"`), nil},
		{"unknownTaskSubscribe", "GET /tasks/nope:subscribe", "", noTask(`"nope"`), nil},
		{"unknownTaskSubscribePost", "POST /tasks/nope:subscribe", "", noTask(`"nope"`), nil},
		{"longTask", "GET /tasks/" + strings.Repeat("x", 10_000), "", noTask("there is no task"), nil},
		{"climbingTask", "GET /tasks/..%2F..%2Fetc%2Fpasswd", "", noTask("there is no task"), nil},
		{"nulTask", "GET /tasks/%00", "", noTask(`"\x00"`), nil},
		{"blankTask", "GET /tasks/%20", "", badParams("id of the task"), nil},
		{"negativeHistory", "GET /tasks/nope?historyLength=-1", "", badParams("historyLength is -1"), nil},
		{"hugeHistory", "GET /tasks/nope?historyLength=99999999999", "", badParams("32 bits"), nil},
		{"textHistory", "GET /tasks/nope?history_length=two", "", badParams("historyLength"), nil},
		{"pageSize", "GET /tasks?pageSize=101", "", badParams("between 1 and 100"), nil},
		{"negativeHistoryOfAList", "GET /tasks?historyLength=-1", "", badParams("historyLength is -1"), nil},
		{"negativePage", "GET /tasks?pageSize=-1", "", badParams("between 1 and 100"), nil},
		{"textPage", "GET /tasks?page_size=many", "", badParams("pageSize"), nil},
		{"token", "GET /tasks?pageToken=%25", "", badParams("pageToken"), nil},
		{"state", "GET /tasks?status=TASK_STATE_DANCING", "", badParams("DANCING"), nil},
		{"time", "GET /tasks?statusTimestampAfter=yesterday", "", badParams("yesterday"), nil},
		{"flag", "GET /tasks?includeArtifacts=maybe", "", badParams("maybe"), nil},
		{"push", "POST /tasks/t/pushNotificationConfigs", `{"url":"http://10.0.0.1"}`, push, nil},
		{"pushList", "GET /tasks/t/pushNotificationConfigs", "", push, nil},
		{"pushGet", "GET /tasks/t/pushNotificationConfigs/c", "", push, nil},
		{"pushDelete", "DELETE /tasks/t/pushNotificationConfigs/c", "", push, nil},

		{"v0Empty", "POST /v1/message:send", "", badParams("message is missing"), nil},
		{"v0Malformed", "POST /v1/message:send", `{`, badJSON("well-formed"), nil},
		{"v0Array", "POST /v1/message:send", `[]`, badParams("must be an object"), nil},
		{"v0Shape10", "POST /v1/message:send", hi, badParams("message has parts"), nil},
		{"v0ShapeRPC", "POST /v1/message:stream", `{"message":{"messageId":"m","role":"user","content":[]}}`, badParams(`"user"`), nil},
		{"v0Content", "POST /v1/message:send", `{"message":{"messageId":"m","role":"ROLE_USER","content":{}}}`, badParams("must be an array"), nil},
		{"v0NullPart", "POST /v1/message:send", `{"message":{"messageId":"m","role":"ROLE_USER","content":[null]}}`, badParams("content[0] must be an object"), nil},
		{"v0UnknownPart", "POST /v1/message:send", `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"hologram":1}]}}`, badParams("content[0] must have exactly one"), nil},
		{"v0KindPart", "POST /v1/message:send", `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"kind":"text","text":"x"}]}}`, badParams("has a kind"), nil},
		{"v0Blank", "POST /v1/message:send", `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":" "}]}}`, badParams("empty"), nil},
		{"v0UnknownTask", "GET /v1/tasks/nope", "", noTask(`"nope"`), nil},
		{"v0Cancel", "POST /v1/tasks/nope:cancel", `{}`, noTask(`"nope"`), nil},
		{"v0History", "GET /v1/tasks/nope?historyLength=-1", "", badParams("historyLength"), nil},
		{"v0Page", "GET /v1/tasks?pageSize=many", "", badParams("pageSize"), nil},
		{"badQuery", "GET /tasks?pageSize=1&x=%zz", "", badParams("query string"), nil},
		{"semicolonQuery", "GET /v1/tasks?pageSize=1;x=2", "", badParams("query string"), nil},
		{"hugePage", "GET /tasks?pageSize=99999999999", "", badParams("between 1 and 100"), nil},
		{"hugerPage", "GET /tasks?pageSize=99999999999999999999", "", badParams("pageSize"), nil},
		{"versionInTheQueryLower", "GET /tasks?a2a-version=99.0", "", version, nil},
		{"emptyTask", "GET /tasks/:subscribe", "", badParams("id of the task"), nil},
		{"v0StringParts", "POST /v1/message:send", `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":7}]}}`, badParams("message.content[0].text must be a string"), nil},
		{"v0TwoContents", "POST /v1/message:send", `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"x","data":{"data":{}}}]}}`, badParams("exactly one of text, file and data"), nil},
		{"v0NumberID", "POST /v1/message:send", `{"message":{"messageId":7,"role":"ROLE_USER","content":[{"text":"x"}]}}`, badParams("message.messageId must be a string"), nil},
		{"v0NumberContext", "POST /v1/message:stream", `{"message":{"messageId":"m","contextId":7,"role":"ROLE_USER","content":[{"text":"x"}]}}`, badParams("message.contextId must be a string"), nil},
		{"v0Wizard", "POST /v1/message:send", `{"message":{"messageId":"m","role":"wizard","content":[{"text":"x"}]}}`, badParams("message.role is"), nil},
		{"v0TextConfiguration", "POST /v1/message:send", `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"x"}]},"configuration":"fast"}`, badParams("configuration"), nil},
		{"v0EmptyData", "POST /v1/message:send", `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"data":{"a":1}}]}}`, badParams("message.content[0].data.data is missing"), nil},
		{"v0BothSources", "POST /v1/message:send", `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"file":{"fileWithUri":"x","fileWithBytes":"aGk="}}]}}`, badParams("message.content[0].file has both"), nil},
		{"v0NotBase64", "POST /v1/message:send", `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"file":{"fileWithBytes":"%%"}}]}}`, badParams("fileWithBytes is not base64"), nil},
		{"v0Time", "GET /v1/tasks?lastUpdatedAfter=yesterday", "", badParams("yesterday"), nil},
		{"v0Version", "GET /v1/tasks/nope", "", version, []string{"A2A-Version", "99.0"}},
		{"v0Media", "POST /v1/message:send", hi, media, []string{"Content-Type", "text/plain"}},
		{"mediaOfNothing", "POST /message:send", "hi", media, []string{"Content-Type", "text/plain"}},
		{"mediaOfAnOldVersion", "POST /message:stream", hi, media, []string{"Content-Type", "text/plain", "A2A-Version", "99.0"}},
		{"v0MediaOfNothing", "POST /v1/message:send", "hi", media, []string{"Content-Type", "text/plain"}},
		{"v0NoID", "POST /v1/message:send", `{"message":{"role":"ROLE_USER","content":[{"text":"x"}]}}`, badParams("messageId"), nil},
		{"v0NoRole", "POST /v1/message:send", `{"message":{"messageId":"m","content":[{"text":"x"}]}}`, badParams("role"), nil},
		{"v0Push", "GET /v1/tasks/t/pushNotificationConfigs", "", push, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			method, path, _ := strings.Cut(tt.route, " ")
			tt.want.wantREST(t, do(t, method, ts.URL+path, tt.body, tt.header...))
		})
	}
}

// TestCutAndSlowBodies: a body that ends early, or comes too slowly, is refused
// at every door, and nothing of it is done.
func TestCutAndSlowBodies(t *testing.T) {
	h := &fakeHandler{}
	r := serve(t, Config{Handler: h, BodyTimeout: 200 * time.Millisecond})
	for _, path := range []string{"/", "/a2a", "/message:send", "/message:stream", "/v1/message:send"} {
		for name, cut := range map[string]bool{"cut": true, "slow": false} {
			t.Run(name+strings.ReplaceAll(path, "/", "_"), func(t *testing.T) {
				conn, err := net.Dial("tcp", r.addr)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n%s", path, v1Hi)
				if cut {
					_ = conn.(*net.TCPConn).CloseWrite()
				}
				_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
				all, err := io.ReadAll(conn)
				got := string(all)
				if err != nil || !strings.HasPrefix(got, "HTTP/1.1 400 ") || !strings.Contains(got, "ended early or came too slowly") || leak(got) != "" {
					t.Errorf("%v %s", err, got)
				}
			})
		}
	}
	if h.last() != nil {
		t.Error("a call came through")
	}
}

// TestUnavailable: who comes at a bad time is told to come again.
func TestUnavailable(t *testing.T) {
	h := unavailable{&fakeHandler{}}
	ts := start(t, Config{Handler: h})
	hi := `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}`
	v0 := `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"hi"}]}}`
	want := refusal{-32000, 503, "SERVER_ERROR", "too many messages wait"}
	for path, body := range map[string]string{"/message:send": hi, "/message:stream": hi, "/v1/message:send": v0} {
		a := do(t, "POST", ts.URL+path, body)
		want.wantREST(t, a)
		if a.header.Get("Retry-After") == "" || !strings.Contains(a.body, `"status":"UNAVAILABLE"`) {
			t.Errorf("%s: %v %s", path, a.header, a.body)
		}
	}
	if a := do(t, http.MethodGet, ts.URL+"/v1/tasks/T1", ""); a.status != 200 {
		t.Errorf("another call: %d %s", a.status, a.body)
	}
	want.wantRPC(t, do(t, "POST", ts.URL, v1Hi), false)
	want.wantRPC(t, do(t, "POST", ts.URL, v0Hi), true)
}
