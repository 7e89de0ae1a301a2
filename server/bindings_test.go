package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"
)

// TestListsAreAskedForAlike: what a list is asked for means the same in every
// binding.
func TestListsAreAskedForAlike(t *testing.T) {
	after := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	zero, two := 0, 2
	tests := []struct {
		name, params, query string
		want                a2a.ListTasksRequest
	}{
		{"nothing", `{}`, "", a2a.ListTasksRequest{}},
		{"unspecified", `{"status":"TASK_STATE_UNSPECIFIED"}`, "status=TASK_STATE_UNSPECIFIED", a2a.ListTasksRequest{}},
		{"state", `{"status":"TASK_STATE_WORKING"}`, "status=TASK_STATE_WORKING", a2a.ListTasksRequest{Status: a2a.TaskStateWorking}},
		{"stateNumber", `{"status":5}`, "status=5", a2a.ListTasksRequest{Status: a2a.TaskStateCanceled}},
		{"noState", `{"status":0}`, "status=0", a2a.ListTasksRequest{}},
		{"sizeZero", `{"pageSize":0}`, "pageSize=0", a2a.ListTasksRequest{}},
		{"textNumbers", `{"pageSize":"7","historyLength":"2"}`, "pageSize=7&historyLength=2", a2a.ListTasksRequest{PageSize: 7, HistoryLength: &two}},
		{"floatNumbers", `{"pageSize":7.0,"historyLength":0e0}`, "page_size=7.0&history_length=0e0", a2a.ListTasksRequest{PageSize: 7, HistoryLength: &zero}},
		{"more", `{"contextId":"c","page_token":"p","includeArtifacts":true}`, "context_id=c&pageToken=p&includeArtifacts=true",
			a2a.ListTasksRequest{ContextID: "c", PageToken: "p", IncludeArtifacts: true}},
		{"after", `{"statusTimestampAfter":"2026-01-02T03:04:05Z"}`, "statusTimestampAfter=2026-01-02T03:04:05Z", a2a.ListTasksRequest{StatusTimestampAfter: &after}},
		{"afterSnake", `{"status_timestamp_after":"2026-01-02T03:04:05Z"}`, "status_timestamp_after=2026-01-02T03:04:05Z", a2a.ListTasksRequest{StatusTimestampAfter: &after}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := &fakeHandler{}
			ts := start(t, Config{Handler: h})
			for _, a := range []answer{
				do(t, "POST", ts.URL, `{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":`+tt.params+`}`),
				do(t, "GET", ts.URL+"/tasks?"+tt.query, ""), do(t, "GET", ts.URL+"/acme/tasks?"+tt.query, ""),
				do(t, "GET", ts.URL+"/v1/tasks?"+strings.ReplaceAll(strings.ReplaceAll(tt.query, "statusTimestampAfter", "lastUpdatedAfter"), "status_timestamp_after", "last_updated_after"), ""),
			} {
				if a.status != 200 {
					t.Fatalf("%d %s", a.status, a.body)
				}
			}
			if len(h.lists) != 4 {
				t.Fatalf("%d lists", len(h.lists))
			}
			for i, got := range h.lists {
				if diff := cmp.Diff(&tt.want, got); diff != "" {
					t.Errorf("%d: %s", i, diff)
				}
			}
		})
	}
}

// TestStatesOf03: that version spells one of them otherwise.
func TestStatesOf03(t *testing.T) {
	h := &fakeHandler{}
	if a := do(t, "GET", start(t, Config{Handler: h}).URL+"/v1/tasks?status=TASK_STATE_CANCELLED", ""); a.status != 200 || h.lists[0].Status != a2a.TaskStateCanceled {
		t.Errorf("%d %s: %+v", a.status, a.body, h.lists)
	}
}

// TestProtoJSONOfMessages: what ProtoJSON lets a caller write in another way
// comes in as if it were written ours, at every door that has the shape.
func TestProtoJSONOfMessages(t *testing.T) {
	v1 := `"role":%s,"parts":[%s]}%s}`
	text, two := a2a.ContentParts{a2a.NewTextPart("hi")}, 2
	tests := []struct {
		name, head, role, part, tail string
		want                         a2a.ContentParts
		history                      *int
	}{
		{"plain", `{"message":{"messageId":"m",`, `"ROLE_USER"`, `{"text":"hi"}`, ``, text, nil},
		{"number", `{"message":{"messageId":"m",`, `1`, `{"text":"hi"}`, ``, text, nil},
		{"textNumber", `{"message":{"messageId":"m",`, `"ROLE_USER"`, `{"text":"hi"}`, `,"configuration":{"historyLength":"2"}`, text, &two},
		{"float", `{"message":{"message_id":"m",`, `1.0`, `{"text":"hi"}`, `,"configuration":{"history_length":2.0}`, text, &two},
		{"nulls", `{"tenant":"acme","metadata":null,"message":{"messageId":"m","contextId":null,`, `"ROLE_USER"`, `{"text":"hi","raw":null,"url":null,"data":null,"metadata":null}`, `,"configuration":null`, text, nil},
		{"nullData", `{"message":{"messageId":"m",`, `"ROLE_USER"`, `{"data":null}`, ``, a2a.ContentParts{{Content: a2a.Text("null"), MediaType: "application/json"}}, nil},
		{"raw", `{"message":{"messageId":"m",`, `"ROLE_USER"`, `{"raw":"-_8","media_type":"image/png"}`, ``, a2a.ContentParts{{Content: a2a.Raw("\xfb\xff"), MediaType: "image/png"}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := &fakeHandler{}
			ts := start(t, Config{Handler: h})
			body := tt.head + fmt.Sprintf(v1, tt.role, tt.part, tt.tail)
			for _, path := range []string{"/", "/message:send", "/acme/message:send", "/message:stream"} {
				sent := body
				if path == "/" {
					sent = v1Send(body)
				}
				a := do(t, "POST", ts.URL+path, sent)
				if a.status != 200 || strings.Contains(a.body, `"error"`) {
					t.Fatalf("%s: %d %s", path, a.status, a.body)
				}
				req := h.last()
				if diff := cmp.Diff(tt.want, req.Message.Parts); diff != "" || req.Message.ID != "m" || req.Message.Role != a2a.MessageRoleUser {
					t.Errorf("%s: %+v %s", path, req.Message, diff)
				}
				var history *int
				if req.Config != nil {
					history = req.Config.HistoryLength
				}
				if diff := cmp.Diff(tt.history, history); diff != "" {
					t.Errorf("%s: %s", path, diff)
				}
			}
		})
	}
}

// TestProtoJSONOf03 does the same for the protocol buffers of 0.3.
func TestProtoJSONOf03(t *testing.T) {
	file := func(c a2a.PartContent) a2a.ContentParts {
		return a2a.ContentParts{{Content: c, Filename: "x", MediaType: "image/png"}}
	}
	for name, tt := range map[string]struct {
		part string
		want a2a.ContentParts
	}{
		"text":   {`{"text":"hi"}`, a2a.ContentParts{a2a.NewTextPart("hi")}},
		"uri":    {`{"file":{"file_with_uri":"https://x","mime_type":"image/png","name":"x"}}`, file(a2a.URL("https://x"))},
		"twice":  {`{"file":{"fileWithBytes":"YUdrPQ==","mimeType":"image/png","name":"x"}}`, file(a2a.Raw("hi"))},
		"once":   {`{"file":{"file_with_bytes":"aGk/","mimeType":"image/png","name":"x"}}`, file(a2a.Raw("hi?"))},
		"data":   {`{"data":{"data":{"a_b":1}}}`, a2a.ContentParts{a2a.NewDataPart(map[string]any{"a_b": 1.0})}},
		"escape": {`{"te\u0078t":"hi"}`, a2a.ContentParts{a2a.NewTextPart("hi")}},
	} {
		t.Run(name, func(t *testing.T) {
			h := &fakeHandler{}
			ts := start(t, Config{Handler: h})
			for _, path := range []string{"/v1/message:send", "/v1/message:stream"} {
				a := do(t, "POST", ts.URL+path, `{"message":{"message_id":"m","context_id":"c","role":1,"content":[`+tt.part+`]},"configuration":{"history_length":"2","blocking":true}}`)
				if a.status != 200 || h.last() == nil {
					t.Fatalf("%d %s", a.status, a.body)
				}
				req := h.last()
				if diff := cmp.Diff(tt.want, req.Message.Parts); diff != "" || req.Message.ID != "m" || req.Message.ContextID != "c" || req.Message.Role != a2a.MessageRoleUser {
					t.Errorf("%+v %s", req.Message, diff)
				}
				if req.Config == nil || req.Config.HistoryLength == nil || *req.Config.HistoryLength != 2 || req.Config.ReturnImmediately {
					t.Errorf("config %+v", req.Config)
				}
			}
		})
	}
}

// TestWhatIsTakenCanBeAnswered: a task with the deepest message that any door
// takes is shown by all of them.
func TestWhatIsTakenCanBeAnswered(t *testing.T) {
	ts := start(t, Config{Handler: engine(t)})
	rest := `{"message":{"messageId":%q,"role":"ROLE_USER","parts":[{"text":"hi"},{"data":%s}],"metadata":%s}}`
	deep := func(n int) string { return nested(n, `{"a":`, "1", "}") }
	a := do(t, "POST", ts.URL+"/message:send", fmt.Sprintf(rest, "m1", deep(mostBrackets-4), deep(mostBrackets-2)))
	if a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	badParams("levels").wantREST(t, do(t, "POST", ts.URL+"/message:send", fmt.Sprintf(rest, "m2", deep(mostBrackets-3), "{}")))
	var sent struct{ Task struct{ ID string } }
	if err := json.Unmarshal([]byte(a.body), &sent); err != nil {
		t.Fatal(err)
	}
	rpc := func(method, params string) string {
		return do(t, "POST", ts.URL, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`).body
	}
	id := `{"id":"` + sent.Task.ID + `"}`
	for name, body := range map[string]string{
		"GetTask": rpc("GetTask", id), "ListTasks": rpc("ListTasks", `{}`), "tasks/get": rpc("tasks/get", id),
		"rest": do(t, "GET", ts.URL+"/tasks/"+sent.Task.ID, "").body, "restList": do(t, "GET", ts.URL+"/tasks", "").body,
		"v0": do(t, "GET", ts.URL+"/v1/tasks/"+sent.Task.ID, "").body, "v0List": do(t, "GET", ts.URL+"/v1/tasks", "").body,
	} {
		if !json.Valid([]byte(body)) || strings.Contains(body, `"error"`) || strings.Count(body, `{"a":`) != 2*mostBrackets-6 {
			t.Errorf("%s: %.300s", name, body)
		}
	}
}

// TestFinalOf03: a client leaves its stream at the event that says final, so that
// of a subscriber, which goes on behind a question, does not say it there.
func TestFinalOf03(t *testing.T) {
	list := func() unplaced {
		status := func(s a2a.TaskState) a2a.Event {
			return &a2a.TaskStatusUpdateEvent{TaskID: "T1", Status: a2a.TaskStatus{State: s}}
		}
		return events(status(a2a.TaskStateInputRequired), status(a2a.TaskStateWorking), status(a2a.TaskStateCompleted))
	}
	ts := start(t, Config{Handler: &fakeHandler{
		stream:    func(context.Context, *a2a.SendMessageRequest) unplaced { return list() },
		subscribe: func(context.Context, *a2a.SubscribeToTaskRequest) unplaced { return list() },
	}})
	for body, want := range map[string]string{
		v0Stream: "true false true",
		`{"jsonrpc":"2.0","id":1,"method":"tasks/resubscribe","params":{"id":"T1"}}`: "false false true",
	} {
		var got []string
		for _, data := range do(t, "POST", ts.URL, body).sseData() {
			got = append(got, fmt.Sprint(strings.Contains(data, `"final":true`)))
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%.80s: %s", body, diff)
		}
	}
}

// TestETag: two cards have the same one only if they are the same.
func TestETag(t *testing.T) {
	tag := func(cfg Config, host string) string {
		return do(t, http.MethodGet, start(t, cfg).URL+"/agent-card", "", "Host", host).header.Get("ETag")
	}
	one, again := tag(Config{}, "localhost:1"), tag(Config{}, "localhost:1")
	url, pure := tag(Config{}, "localhost:2"), tag(Config{PureCard: true}, "localhost:1")
	if one == "" || one != again || one == url || one == pure {
		t.Errorf("%s and %s for the same, %s under another name, %s for another version", one, again, url, pure)
	}
}
