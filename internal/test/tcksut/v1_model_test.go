package main

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// models are the requirements on the data model.
func models() []requirement {
	states := []string{"SUBMITTED", "WORKING", "INPUT_REQUIRED", "AUTH_REQUIRED", "COMPLETED", "FAILED", "CANCELED", "REJECTED"}
	sent := map[string][]any{} // tasks that all requirements look at, by binding
	each := func(f func(t *testing.T, task any)) func(*testing.T, client) {
		return func(t *testing.T, c client) {
			if sent[c.binding] == nil {
				var tasks []any
				for _, prefix := range []string{"tck-complete-task", "tck-input-required", "tck-reject-task", "tck-artifact-file", "tck-artifact-data"} {
					tasks = append(tasks, c.send(t, prefix))
				}
				sent[c.binding] = tasks
			}
			for _, task := range sent[c.binding] {
				f(t, task)
			}
		}
	}
	return []requirement{
		{"DM-TASK-001", each(func(t *testing.T, task any) {
			if str(task, "id") == "" || at(task, "status") == nil {
				t.Errorf("task %v", task)
			}
		})},
		{"DM-TASK-002", each(func(t *testing.T, task any) {
			if state, ok := strings.CutPrefix(str(task, "status", "state"), "TASK_STATE_"); !ok || !slices.Contains(states, state) {
				t.Errorf("task %v", task)
			}
		})},
		{"DM-MSG-001", each(func(t *testing.T, task any) {
			for _, m := range messages(task) {
				if parts, _ := at(m, "parts").([]any); str(m, "role") == "" || str(m, "messageId") == "" || len(parts) == 0 {
					t.Errorf("message %v", m)
				}
			}
		})},
		{"DM-MSG-002", each(func(t *testing.T, task any) {
			for _, m := range messages(task) {
				if role := str(m, "role"); role != "ROLE_USER" && role != "ROLE_AGENT" {
					t.Errorf("role %q", role)
				}
			}
		})},
		{"DM-PART-001", each(func(t *testing.T, task any) {
			artifacts, _ := at(task, "artifacts").([]any)
			for _, holder := range append(messages(task), artifacts...) {
				parts, _ := at(holder, "parts").([]any)
				for _, part := range parts {
					n := 0
					for _, kind := range []string{"text", "raw", "url", "data"} {
						if at(part, kind) != nil {
							n++
						}
					}
					if n != 1 {
						t.Errorf("part %v", part)
					}
				}
			}
		})},
		{"DM-SERIAL-001", each(func(t *testing.T, task any) {
			walk(task, func(key string, _ any) {
				if strings.Contains(key, "_") {
					t.Errorf("a field is called %s", key)
				}
			})
		})},
		{"DM-SERIAL-003", each(func(t *testing.T, task any) {
			stamp := str(task, "status", "timestamp")
			if _, err := time.Parse(time.RFC3339, stamp); err != nil || len(stamp) != len("2006-01-02T15:04:05.000Z") || !strings.HasSuffix(stamp, "Z") {
				t.Errorf("timestamp %q", stamp)
			}
		})},
		{"DM-SERIAL-004", each(func(t *testing.T, task any) {
			artifacts, _ := at(task, "artifacts").([]any)
			for _, a := range artifacts {
				if parts, _ := at(a, "parts").([]any); str(a, "artifactId") == "" || len(parts) == 0 {
					t.Errorf("artifact %v", a)
				}
			}
		})},
		{"DM-SERIAL-005", func(t *testing.T, c client) {
			m := message("tck-complete-task", "kind", "message", "somethingNew", object{"x": 1}, "parts", []any{object{"text": "hi", "new": true}})
			r := c.call(t, "SendMessage", object{"message": m, "alsoNew": []any{1}})
			c.wantState(t, at(r.result, "task"), "COMPLETED")
		}},
	}
}

// messages are those of a task.
func messages(task any) []any {
	list, _ := at(task, "history").([]any)
	if m := at(task, "status", "message"); m != nil {
		list = append(list, m)
	}
	return list
}

// walk visits all members but those inside of metadata and data, whose names
// are not the protocol's.
func walk(v any, visit func(string, any)) {
	switch v := v.(type) {
	case object:
		for key, member := range v {
			visit(key, member)
			if key != "metadata" && key != "data" {
				walk(member, visit)
			}
		}
	case []any:
		for _, member := range v {
			walk(member, visit)
		}
	}
}
