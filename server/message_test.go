package server

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"
)

func v0Send1(message string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":` + message + `}}`
}

func TestLenient03Input(t *testing.T) {
	text := a2a.ContentParts{a2a.NewTextPart("hi")}
	file := func(c a2a.PartContent) a2a.ContentParts {
		return a2a.ContentParts{{Content: c, Filename: "x.png", MediaType: "image/png"}}
	}
	tests := []struct {
		name, message string
		want          a2a.ContentParts
	}{
		{"kind", `{"messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"}]}`, text},
		{"type", `{"messageId":"m","role":"user","parts":[{"type":"text","text":"hi"}]}`, text},
		{"neither", `{"messageId":"m","role":"user","parts":[{"text":"hi"}]}`, text},
		{"roleOf10", `{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}`, text},
		{"nulls", `{"messageId":"m","role":"user","taskId":null,"contextId":null,"metadata":null,"parts":[{"text":"hi"}]}`, text},
		{"contentString", `{"messageId":"m","role":"user","content":"hi"}`, text},
		{"contentArray", `{"messageId":"m","role":"user","content":[{"type":"text","text":"hi"}]}`, text},
		{"fileURI", `{"messageId":"m","role":"user","parts":[{"kind":"file","file":{"uri":"workspace:/a","name":"x.png","mimeType":"image/png"}}]}`, file(a2a.URL("workspace:/a"))},
		{"fileWithURI", `{"messageId":"m","role":"user","parts":[{"type":"file","file":{"fileWithUri":"workspace:/a","name":"x.png","mimeType":"image/png"}}]}`, file(a2a.URL("workspace:/a"))},
		{"fileURL", `{"messageId":"m","role":"user","parts":[{"kind":"file","file":{"url":"workspace:/a","name":"x.png","mimeType":"image/png","sizeInBytes":1024}}]}`, file(a2a.URL("workspace:/a"))},
		{"fileBytes", `{"messageId":"m","role":"user","parts":[{"kind":"file","file":{"bytes":"aGk=","name":"x.png","mimeType":"image/png"}}]}`, file(a2a.Raw("hi"))},
		{"fileBytesUnpadded", `{"messageId":"m","role":"user","parts":[{"kind":"file","file":{"bytes":"aGk","name":"x.png","mimeType":"image/png"}}]}`, file(a2a.Raw("hi"))},
		{"rawOf10", `{"messageId":"m","role":"user","parts":[{"raw":"aGk=","filename":"x.png","mediaType":"image/png"}]}`, file(a2a.Raw("hi"))},
		{"urlOf10", `{"messageId":"m","role":"user","parts":[{"url":"https://x/y","filename":"x.png","mediaType":"image/png"}]}`, file(a2a.URL("https://x/y"))},
		{"textAndFile", `{"messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"},{"kind":"file","file":{"uri":"workspace:/a","name":"x.png","mimeType":"image/png"}}]}`,
			append(a2a.ContentParts{a2a.NewTextPart("hi")}, file(a2a.URL("workspace:/a"))...)},
		{"data", `{"messageId":"m","role":"user","parts":[{"type":"data","data":{"a_b":1}}]}`, a2a.ContentParts{a2a.NewDataPart(map[string]any{"a_b": 1.0})}},
	}
	h := &fakeHandler{}
	ts := start(t, Config{Handler: h})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := do(t, "POST", ts.URL, v0Send1(tt.message))
			if got := a.rpc(t); got.Error != nil {
				t.Fatalf("error %+v", got.Error)
			}
			m := h.last().Message
			if m.ID != "m" || m.Role != a2a.MessageRoleUser {
				t.Errorf("id %q, role %q", m.ID, m.Role)
			}
			if diff := cmp.Diff(tt.want, m.Parts); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestWorkspaceFillsMessagesIn: what 0.3 requires and callers of a workspace leave out.
func TestWorkspaceFillsMessagesIn(t *testing.T) {
	h := &fakeHandler{}
	x := newTenant(t, func(c *Config) { c.Handler = h })
	seen := map[string]bool{}
	for _, id := range []string{``, `"messageId":"",`, `"messageId":null,`} {
		for _, role := range []string{``, `"role":null,`, `"role":"user",`} {
			do(t, "POST", x.url, v0Send1(`{`+id+role+`"parts":[{"text":"hi"}]}`))
			seen[h.last().Message.ID] = true
			if h.last().Message.Role != a2a.MessageRoleUser {
				t.Errorf("role %q", h.last().Message.Role)
			}
		}
	}
	if len(seen) != 9 || seen[""] {
		t.Errorf("ids %v", seen)
	}
}

// TestLenient03Refusals: what a workspace does not fill in. Parts: TestHostileMessages03.
func TestLenient03Refusals(t *testing.T) {
	x := newTenant(t, func(c *Config) { c.Handler = engine(t) })
	for message, text := range map[string]string{
		`null`:                                   "message is missing",
		`7`:                                      "must be an object",
		`{"messageId":7,"parts":[{"text":"x"}]}`: "messageId",
		`{"role":"wizard","parts":[{"text":"x"}]}`: "wizard",
		`{}`:                         "parts is missing",
		`{"parts":[]}`:               "parts is empty",
		`{"parts":[{"text":"x"},7]}`: "parts[1] must be an object",
	} {
		badParams(text).wantRPC(t, do(t, "POST", x.url, v0Send1(message)), true)
	}
}

func TestSnakeCaseOf10(t *testing.T) {
	h := &fakeHandler{}
	ts := start(t, Config{Handler: h})
	a := do(t, "POST", ts.URL, v1Send(`{"message":{"message_id":"m","context_id":"c","contextId":"C","role":"ROLE_USER",
		"reference_task_ids":["r"],"metadata":{"user_key":{"in_ner":1}},
		"parts":[{"text":"hi","media_type":"text/plain"},{"data":{"keep_me":1}}]},
		"configuration":{"return_immediately":true,"history_length":3}}`))
	if got := a.rpc(t); got.Error != nil {
		t.Fatalf("error %+v", got.Error)
	}
	m, three := h.last().Message, 3
	want := &a2a.Message{
		ID: "m", ContextID: "C", Role: a2a.MessageRoleUser, ReferenceTasks: []a2a.TaskID{"r"},
		Metadata: map[string]any{"user_key": map[string]any{"in_ner": 1.0}},
		Parts:    a2a.ContentParts{{Content: a2a.Text("hi"), MediaType: "text/plain"}, a2a.NewDataPart(map[string]any{"keep_me": 1.0})},
	}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(&a2a.SendMessageConfig{ReturnImmediately: true, HistoryLength: &three}, h.last().Config); diff != "" {
		t.Error(diff)
	}
	do(t, "POST", ts.URL, `{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"page_size":7,"page_token":"p","context_id":"c","history_length":0}}`)
	zero := 0
	if diff := cmp.Diff(&a2a.ListTasksRequest{PageSize: 7, PageToken: "p", ContextID: "c", HistoryLength: &zero}, h.lists[0]); diff != "" {
		t.Error(diff)
	}
}

func TestReplyAsMessage(t *testing.T) {
	h := &fakeHandler{}
	reply := func(task *a2a.Task) *a2a.Message {
		return a2a.NewMessageForTask(a2a.MessageRoleAgent, task, a2a.NewTextPart("just the text"))
	}
	ts := start(t, Config{Handler: h, ReplyAsMessage: true, Reply: reply})
	var m struct {
		Kind, Role, TaskID string
		Parts              []struct{ Kind, Text string }
	}
	got := do(t, "POST", ts.URL, v0Hi).rpc(t)
	if err := json.Unmarshal(got.Result, &m); err != nil || m.Kind != "message" || m.Role != "agent" || m.TaskID != "T1" || len(m.Parts) != 1 || m.Parts[0].Kind != "text" || m.Parts[0].Text != "just the text" {
		t.Errorf("blocking 0.3: %s", got.Result)
	}
	notBlocking := strings.Replace(v0Hi, `"params":{`, `"params":{"configuration":{"blocking":false},`, 1)
	if got := do(t, "POST", ts.URL, notBlocking).body; !strings.Contains(got, `"kind":"task"`) || !h.last().Config.ReturnImmediately {
		t.Errorf("0.3 that does not block: %s", got)
	}
	if got := do(t, "POST", ts.URL, v1Hi).body; !strings.Contains(got, `{"task":`) {
		t.Errorf("1.0: %s", got)
	}
}
