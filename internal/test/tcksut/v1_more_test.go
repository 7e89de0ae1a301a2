package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

func lists() []requirement {
	return []requirement{
		{"CORE-LIST-001", func(t *testing.T, c client) {
			ctx := newContext()
			c.send(t, "tck-complete-task", "contextId", ctx)
			r := c.call(t, "ListTasks", object{"contextId": ctx})
			if tasks, _ := at(r.result, "tasks").([]any); len(tasks) != 1 || str(tasks[0], "contextId") != ctx {
				t.Errorf("list %s", r.body)
			}
		}},
		{"CORE-LIST-002", func(t *testing.T, c client) {
			ctx, sent := newContext(), map[string]bool{}
			for range 5 {
				sent[str(c.send(t, "tck-complete-task", "contextId", ctx), "id")] = true
			}
			token, pages := "", 0
			for {
				r := c.call(t, "ListTasks", object{"contextId": ctx, "pageSize": 2, "pageToken": token})
				tasks, _ := at(r.result, "tasks").([]any)
				if r.failed || len(tasks) > 2 || at(r.result, "totalSize") != 5.0 || at(r.result, "pageSize") != 2.0 {
					t.Fatalf("page %s", r.body)
				}
				for _, task := range tasks {
					if !sent[str(task, "id")] {
						t.Errorf("%v came twice", str(task, "id"))
					}
					delete(sent, str(task, "id"))
				}
				pages++
				if token = str(r.result, "nextPageToken"); token == "" {
					break
				}
			}
			if pages != 3 || len(sent) != 0 {
				t.Errorf("%d pages, %d tasks missing", pages, len(sent))
			}
			for _, bad := range []object{{"pageSize": 101}, {"pageSize": -1}, {"pageToken": "x"}, {"status": "TASK_STATE_DANCING"}, {"historyLength": -1}} {
				c.wantError(t, c.call(t, "ListTasks", bad), -32602, 400, "INVALID_PARAMS")
			}
		}},
		{"CORE-LIST-003", func(t *testing.T, c client) {
			first := c.send(t, "tck-input-required", "contextId", newContext())
			outlive(t, c.send(t, "tck-complete-task", "contextId", newContext()))
			c.send(t, "tck-complete-task", "taskId", str(first, "id")) // its status is the newest now
			r := c.call(t, "ListTasks", object{"pageSize": 2})
			tasks, _ := at(r.result, "tasks").([]any)
			if len(tasks) != 2 || str(tasks[0], "id") != str(first, "id") || str(tasks[0], "status", "timestamp") < str(tasks[1], "status", "timestamp") {
				t.Errorf("list %s", r.body)
			}
		}},
		{"CORE-LIST-004", func(t *testing.T, c client) {
			r := c.call(t, "ListTasks", object{"contextId": newContext()})
			if !strings.Contains(r.body, `"tasks":[]`) || !strings.Contains(r.body, `"nextPageToken":""`) {
				t.Errorf("list %s", r.body)
			}
		}},
		{"CORE-LIST-005", func(t *testing.T, c client) {
			ctx := newContext()
			c.send(t, "tck-artifact-text", "contextId", ctx)
			if r := c.call(t, "ListTasks", object{"contextId": ctx, "includeArtifacts": false}); strings.Contains(r.body, "artifacts") {
				t.Errorf("list %s", r.body)
			}
			if r := c.call(t, "ListTasks", object{"contextId": ctx, "includeArtifacts": true}); !strings.Contains(r.body, "Generated text content") {
				t.Errorf("list %s", r.body)
			}
		}},
	}
}

// outlive waits until the clock has left the millisecond of a task's timestamp,
// which may be the next one: a timestamp never ends in a zero.
func outlive(t *testing.T, task any) {
	t.Helper()
	stamp, err := time.Parse(time.RFC3339, str(task, "status", "timestamp"))
	if err != nil {
		t.Fatal(err)
	}
	for time.Now().Before(stamp.Add(time.Millisecond)) {
		runtime.Gosched()
	}
}

func newContext() string { return fmt.Sprintf("ctx-%x", time.Now().UnixNano()) }

func histories() []requirement {
	turns := func(t *testing.T, c client) string {
		id := str(c.send(t, "tck-input-required"), "id")
		c.send(t, "tck-input-required", "taskId", id, "parts", []any{object{"text": "second"}})
		return id
	}
	history := func(t *testing.T, c client, id string, n int) []any {
		r := c.call(t, "GetTask", object{"id": id, "historyLength": n})
		list, _ := at(r.result, "history").([]any)
		return list
	}
	return []requirement{
		{"CORE-HIST-001", func(t *testing.T, c client) {
			if h := history(t, c, turns(t, c), 0); len(h) != 0 {
				t.Errorf("history %v", h)
			}
		}},
		{"CORE-HIST-002", func(t *testing.T, c client) {
			if h := history(t, c, turns(t, c), 1); len(h) != 1 || str(h[0], "parts", 0, "text") != "second" {
				t.Errorf("history %v", h)
			}
		}},
		{"CORE-HIST-003", func(t *testing.T, c client) {
			id := turns(t, c)
			r := c.call(t, "SendMessage", object{"message": message("tck-complete-task", "taskId", id), "configuration": object{"historyLength": 0}})
			if at(r.result, "task") == nil || at(r.result, "task", "history") != nil {
				t.Errorf("task %s", r.body)
			}
		}},
		{"CORE-HIST-004", func(t *testing.T, c client) {
			if h := history(t, c, turns(t, c), 10); len(h) != 3 {
				t.Errorf("history %v", h)
			}
		}},
		{"CORE-HIST-005", func(t *testing.T, c client) {
			id := str(c.send(t, "tck-input-required"), "id")
			var want []string
			for i := range 3 {
				text := fmt.Sprint("message ", i)
				c.send(t, "tck-input-required", "taskId", id, "parts", []any{object{"text": text}})
				want = append(want, text)
			}
			var got []string
			for _, m := range history(t, c, id, 100)[1:] {
				if str(m, "role") == "ROLE_USER" {
					got = append(got, str(m, "parts", 0, "text"))
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("history %q, want %q", got, want)
			}
		}},
		{"CORE-HIST-006", func(t *testing.T, c client) {
			h := history(t, c, turns(t, c), 10)
			if str(h, 0, "parts", 0, "text") != hello || str(h, 1, "role") != "ROLE_AGENT" || str(h, 2, "parts", 0, "text") != "second" {
				t.Errorf("history %v", h)
			}
		}},
	}
}

func refusals() []requirement {
	unknown := func(op string) func(*testing.T, client) {
		return func(t *testing.T, c client) {
			var r reply
			if op == "SubscribeToTask" {
				_, r = c.stream(t, op, object{"id": "tck-nonexistent"})
			} else {
				r = c.call(t, op, object{"id": "tck-nonexistent"})
			}
			c.wantError(t, r, -32001, 404, "TASK_NOT_FOUND")
			if str(r.info, "metadata", "taskId") != "tck-nonexistent" {
				t.Errorf("info %v", r.info)
			}
		}
	}
	return []requirement{
		{"CORE-GET-002", unknown("GetTask")},
		{"CORE-CANCEL-003", unknown("CancelTask")},
		{"STREAM-SUB-004", unknown("SubscribeToTask")},
		{"CORE-MULTI-004", func(t *testing.T, c client) {
			r := c.call(t, "SendMessage", object{"message": message("tck-multi-004", "taskId", "tck-nonexistent")})
			c.wantError(t, r, -32001, 404, "TASK_NOT_FOUND")
			_, r = c.stream(t, "SendStreamingMessage", object{"message": message("tck-multi-004", "taskId", "tck-nonexistent")})
			c.wantError(t, r, -32001, 404, "TASK_NOT_FOUND")
		}},
		{"CORE-ERR-001", unknown("GetTask")},
		{"CORE-ERR-002", func(t *testing.T, c client) {
			for name, params := range map[string]object{
				"noMessage": {}, "noParts": {"message": message("tck-x", "parts", []any{})}, "nullPart": {"message": message("tck-x", "parts", []any{nil})},
				"noID": {"message": object{"role": "ROLE_USER", "parts": []any{object{"text": "x"}}}}, "role": {"message": message("tck-x", "role", "wizard")},
				"blank": {"message": message("tck-x", "parts", []any{object{"text": " \n"}})}, "history": {"message": message("tck-x"), "configuration": object{"historyLength": -1}},
			} {
				if r := c.call(t, "SendMessage", params); r.reason != "INVALID_PARAMS" {
					t.Errorf("%s: %s", name, r.body)
				}
				if s, r := c.stream(t, "SendStreamingMessage", params); s != nil || r.reason != "INVALID_PARAMS" {
					t.Errorf("%s as a stream: %s", name, r.body)
				}
			}
		}},
		{"CORE-CAP-001", func(t *testing.T, c client) {
			for _, op := range []string{"Create", "Get", "List", "Delete"} {
				name := op + "TaskPushNotificationConfig"
				if op == "List" {
					name += "s"
				}
				r := c.call(t, name, object{"taskId": "t", "id": "c", "url": "https://example.com"})
				c.wantError(t, r, -32003, 400, "PUSH_NOTIFICATION_NOT_SUPPORTED")
			}
			r := c.call(t, "SendMessage", object{"message": message("tck-complete-task"),
				"configuration": object{"taskPushNotificationConfig": object{"url": "https://example.com"}}})
			c.wantError(t, r, -32003, 400, "PUSH_NOTIFICATION_NOT_SUPPORTED")
		}},
		{"CORE-CAP-003", func(t *testing.T, c client) {
			c.wantError(t, c.call(t, "GetExtendedAgentCard", object{}), -32004, 400, "UNSUPPORTED_OPERATION")
		}},
		{"VER-SERVER-001", func(t *testing.T, c client) {
			c.header = map[string][]string{"A2a-Version": {"1.0.3"}}
			c.wantState(t, c.send(t, "tck-complete-task"), "COMPLETED")
		}},
		{"VER-SERVER-002", func(t *testing.T, c client) {
			c.header = map[string][]string{"A2a-Version": {"99.0"}}
			c.wantError(t, c.call(t, "SendMessage", object{"message": message("tck-ver-002")}), -32009, 400, "VERSION_NOT_SUPPORTED")
			_, r := c.stream(t, "SendStreamingMessage", object{"message": message("tck-ver-002")})
			c.wantError(t, r, -32009, 400, "VERSION_NOT_SUPPORTED")
		}},
		{"VER-SERVER-003", func(t *testing.T, c client) {
			c.header = map[string][]string{"A2a-Version": {" "}}
			c.wantState(t, c.send(t, "tck-complete-task"), "COMPLETED")
		}},
	}
}
