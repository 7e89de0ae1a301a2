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
			for _, prefix := range []string{"tck-complete-task", "tck-input-required"} { // one has ended, one goes on
				c.send(t, prefix, "contextId", ctx)
			}
			r := c.call(t, "ListTasks", object{"contextId": ctx})
			states := map[string]bool{}
			tasks, _ := at(r.result, "tasks").([]any)
			for _, task := range tasks {
				states[short(str(task, "status", "state"))] = str(task, "contextId") == ctx
			}
			if len(tasks) != 2 || !states["COMPLETED"] || !states["INPUT_REQUIRED"] {
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
