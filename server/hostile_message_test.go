package server

import (
	"fmt"
	"strings"
	"testing"
)

const waitMessage = `{"messageId":"w","role":"ROLE_USER","parts":[{"text":"wait"}]}`

// stuck makes a task that waits, and returns its id.
func stuck(t testing.TB, url string) string {
	t.Helper()
	return taskOf(t, url, waitMessage)
}

// taskOf sends a message without waiting for its turn, and returns the id of its task.
func taskOf(t testing.TB, url, message string) string {
	t.Helper()
	a := do(t, "POST", url+"/message:send", `{"message":`+message+`,"configuration":{"returnImmediately":true}}`)
	_, rest, _ := strings.Cut(a.body, `"id":"`)
	id, _, ok := strings.Cut(rest, `"`)
	if a.status != 200 || !ok {
		t.Fatalf("%d %s", a.status, a.body)
	}
	return id
}

// TestHostileMessages10: messages of 1.0 that make no sense, at every door that
// takes one.
func TestHostileMessages10(t *testing.T) {
	ts := start(t, Config{Handler: engine(t)})
	task := stuck(t, ts.URL)
	ended := taskOf(t, ts.URL, `{"messageId":"e","role":"ROLE_USER","parts":[{"text":"hi"}]}`)
	message := func(members string) string { return `{"message":{"messageId":"m","role":"ROLE_USER",` + members + `}}` }
	parts := func(parts string) string { return message(`"parts":[` + parts + `]`) }
	tests := []struct {
		name, params string
		want         refusal
	}{
		{"nothing", `{}`, badParams("message is missing")},
		{"nullMessage", `{"message":null}`, badParams("message is missing")},
		{"textMessage", `{"message":"hi"}`, badParams("message must be an object")},
		{"arrayMessage", `{"message":[]}`, badParams("message must be an object")},
		{"emptyMessage", `{"message":{}}`, badParams("messageId")},
		{"noID", `{"message":{"role":"ROLE_USER","parts":[{"text":"x"}]}}`, badParams("messageId")},
		{"numberID", `{"message":{"messageId":7,"role":"ROLE_USER","parts":[{"text":"x"}]}}`, badParams("messageId")},
		{"longID", `{"message":{"messageId":"` + strings.Repeat("x", 513) + `","role":"ROLE_USER","parts":[{"text":"x"}]}}`, badParams("longer than 512")},
		{"noRole", `{"message":{"messageId":"m","parts":[{"text":"x"}]}}`, badParams("role")},
		{"wizard", `{"message":{"messageId":"m","role":"wizard","parts":[{"text":"x"}]}}`, badParams("wizard")},
		{"agent", `{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"x"}]}}`, badParams("ROLE_AGENT")},
		{"numberRole", `{"message":{"messageId":"m","role":2,"parts":[{"text":"x"}]}}`, badParams("ROLE_AGENT")},
		{"unknownRole", `{"message":{"messageId":"m","role":7,"parts":[{"text":"x"}]}}`, badParams("role")},
		{"shapeOf03", `{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"x"}]}}`, badParams(`message of A2A 0.3 (role "user")`)},
		{"partOf03", parts(`{"kind":"file","file":{"uri":"x"}}`), badParams(`part of A2A 0.3 (kind "file")`)},
		{"noParts", message(`"metadata":{}`), badParams("parts is empty")},
		{"emptyParts", parts(``), badParams("parts is empty")},
		{"nullParts", message(`"parts":null`), badParams("parts is empty")},
		{"textParts", message(`"parts":"hi"`), badParams("parts must be an array")},
		{"nullPart", parts(`{"text":"x"},null`), badParams("parts[1] must be an object")},
		{"textPart", parts(`"x"`), badParams("parts[0] must be an object")},
		{"emptyPart", parts(`{}`), badParams("exactly one")},
		{"unknownPart", parts(`{"hologram":"x"}`), badParams("exactly one")},
		{"nullContent", parts(`{"text":null}`), badParams("exactly one")},
		{"twoContents", parts(`{"text":"a","url":"b"}`), badParams("exactly one")},
		{"numberText", parts(`{"text":7}`), badParams("parts[0].text must be a string")},
		{"numberURL", parts(`{"url":7}`), badParams("parts[0].url must be a string")},
		{"emptyURL", parts(`{"url":""}`), badParams("parts[0].url is empty")},
		{"notBase64", parts(`{"text":"x"},{"raw":"%%"}`), badParams("parts[1].raw is not base64")},
		{"numberMedia", parts(`{"text":"x","mediaType":7}`), badParams("mediaType")},
		{"hugeNumber", parts(`{"data":1e400}`), badParams("too large")},
		{"arrayMetadata", message(`"metadata":[],"parts":[{"text":"x"}]`), badParams("metadata")},
		{"numberContext", message(`"contextId":7,"parts":[{"text":"x"}]`), badParams("contextId")},
		{"blank", parts(`{"text":" \n\t"}`), badParams("empty")},
		{"blankFile", parts(`{"text":""},{"text":"\u00a0"}`), badParams("empty")},
		{"unknownTask", message(`"taskId":"nope","parts":[{"text":"x"}]`), noTask(`"nope"`)},
		{"foreignContext", message(`"taskId":"` + task + `","contextId":"other","parts":[{"text":"x"}]`), badParams("another context")},
		{"foreignContextOfTheEnded", message(`"taskId":"` + ended + `","contextId":"other","parts":[{"text":"x"}]`), badParams("another context")},
		{"longContext", message(`"contextId":"` + strings.Repeat("x", 513) + `","parts":[{"text":"x"}]`), badParams("longer than 512")},
		{"negativeHistory", `{"message":` + waitMessage + `,"configuration":{"historyLength":-1}}`, badParams("historyLength is -1")},
		{"hugeHistory", `{"message":` + waitMessage + `,"configuration":{"historyLength":1e30}}`, badParams("historyLength")},
		{"textConfiguration", `{"message":` + waitMessage + `,"configuration":"fast"}`, badParams("configuration")},
		{"push", `{"message":` + waitMessage + `,"configuration":{"taskPushNotificationConfig":{"url":"http://10.0.0.1"}}}`,
			refusal{-32003, 400, "PUSH_NOTIFICATION_NOT_SUPPORTED", "push notification"}},
		{"otherContent", `{"message":{"messageId":"w","role":"ROLE_USER","parts":[{"text":"something else"}]}}`, badParams("used before")},
		{"twice", message(`"messageId":"w","parts":[{"text":"x"}]`), badParams(`"messageId" is there twice`)},
		{"otherCase", message(`"Parts":[{"text":"x"}]`), badParams("must be written parts")},
		{"hugeHistory32", `{"message":` + waitMessage + `,"configuration":{"historyLength":4294967296}}`, badParams("32 bits")},
		{"fractionHistory", `{"message":` + waitMessage + `,"configuration":{"historyLength":1.5}}`, badParams("configuration.historyLength")},
	}
	for _, tt := range tests {
		for _, method := range []string{"SendMessage", "SendStreamingMessage"} {
			t.Run(tt.name+"/"+method, func(t *testing.T) {
				tt.want.wantRPC(t, do(t, "POST", ts.URL, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, tt.params)), false)
			})
		}
		for _, path := range []string{"/message:send", "/message:stream"} {
			t.Run(tt.name+path, func(t *testing.T) { tt.want.wantREST(t, do(t, "POST", ts.URL+path, tt.params)) })
		}
	}
}

// TestHostileMessages03: the same for 0.3, whose streams are streams even if
// they hold nothing but an error.
func TestHostileMessages03(t *testing.T) {
	ts := start(t, Config{Handler: engine(t)})
	task := stuck(t, ts.URL)
	parts := func(parts string) string { return `{"messageId":"m","role":"user","parts":[` + parts + `]}` }
	tests := []struct {
		name, message string
		want          refusal
	}{
		{"null", `null`, badParams("message is missing")},
		{"number", `7`, badParams("message must be an object")},
		{"empty", `{}`, badParams("message.messageId is missing")},
		{"noID", `{"role":"user","parts":[{"text":"x"}]}`, badParams("message.messageId is missing")},
		{"nullID", `{"messageId":null,"role":"user","parts":[{"text":"x"}]}`, badParams("message.messageId is missing")},
		{"emptyID", `{"messageId":"","role":"user","parts":[{"text":"x"}]}`, badParams("message.messageId is missing")},
		{"numberID", `{"messageId":7,"role":"user","parts":[{"text":"x"}]}`, badParams("messageId must be a string")},
		{"noRole", `{"messageId":"m","parts":[{"text":"x"}]}`, badParams("message.role is missing")},
		{"nullRole", `{"messageId":"m","role":null,"parts":[{"text":"x"}]}`, badParams("message.role is missing")},
		{"wizard", `{"messageId":"m","role":"wizard","parts":[{"text":"x"}]}`, badParams("wizard")},
		{"agent", `{"messageId":"m","role":"agent","parts":[{"text":"x"}]}`, badParams("role")},
		{"noParts", `{"messageId":"m","role":"user"}`, badParams("parts is missing")},
		{"emptyParts", parts(``), badParams("parts is empty")},
		{"objectParts", `{"messageId":"m","role":"user","parts":{}}`, badParams("must be an array")},
		{"nullPart", parts(`{"kind":"text","text":"x"},null`), badParams("parts[1] must be an object")},
		{"unknownKind", parts(`{"kind":"hologram"}`), badParams(`unknown kind "hologram"`)},
		{"emptyPart", parts(`{}`), badParams("unknown kind")},
		{"noText", parts(`{"kind":"text"}`), badParams("parts[0].text")},
		{"numberText", parts(`{"kind":"text","text":7}`), badParams("parts[0].text")},
		{"arrayData", parts(`{"kind":"data","data":[1]}`), badParams("parts[0].data must be an object")},
		{"hugeNumber", parts(`{"kind":"data","data":{"a":1e400}}`), badParams("too large")},
		{"emptyFile", parts(`{"kind":"file","file":{}}`), badParams("neither bytes nor uri")},
		{"notBase64", parts(`{"kind":"file","file":{"bytes":"%%"}}`), badParams("parts[0].file.bytes is not base64")},
		{"textFile", parts(`{"kind":"file","file":"x"}`), badParams("parts[0].file must be an object")},
		{"numberURI", parts(`{"kind":"file","file":{"uri":7}}`), badParams("parts[0].file.uri must be a string")},
		{"numberBytes", parts(`{"kind":"file","file":{"bytes":7}}`), badParams("parts[0].file.bytes must be a string")},
		{"bothSources", parts(`{"kind":"file","file":{"bytes":"aGk=","uri":"x"}}`), badParams("parts[0].file has both bytes and uri")},
		{"arrayMetadata", `{"messageId":"m","role":"user","metadata":[],"parts":[{"text":"x"}]}`, badParams("metadata")},
		{"blank", parts(`{"kind":"text","text":" \n"}`), badParams("empty")},
		{"unknownTask", `{"messageId":"m","role":"user","taskId":"nope","parts":[{"text":"x"}]}`, noTask("Task not found: there is no task \"nope\"")},
		{"foreignContext", `{"messageId":"m","role":"user","taskId":"` + task + `","contextId":"other","parts":[{"text":"x"}]}`, badParams("another context")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.want.wantRPC(t, do(t, "POST", ts.URL, v0Send1(tt.message)), true) })
		t.Run(tt.name+"/stream", func(t *testing.T) {
			a := do(t, "POST", ts.URL, strings.Replace(v0Send1(tt.message), "message/send", "message/stream", 1))
			data := a.sseData()
			if a.header.Get("Content-Type") != "text/event-stream" || len(data) != 1 {
				t.Fatalf("%v %s", a.header, a.body)
			}
			a.header.Set("Content-Type", "application/json")
			a.body = data[0]
			tt.want.wantRPC(t, a, true)
		})
	}
}
