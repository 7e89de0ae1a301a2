package main

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// A requirement of the 1.0 suite, by its id there.
type requirement struct {
	id   string
	test func(*testing.T, client)
}

// TestV1 holds the requirements that stand for all bindings, in each of ours.
func TestV1(t *testing.T) {
	url := start(t, options{})
	for _, r := range v1() {
		t.Run(r.id, func(t *testing.T) {
			for _, binding := range []string{jsonrpc, httpJSON} {
				t.Run(binding, func(t *testing.T) { r.test(t, client{url: url, binding: binding}) })
			}
		})
	}
}

func v1() []requirement {
	return slices.Concat(sending(), streaming(), asking(), lists(), histories(), models())
}

func sending() []requirement {
	return []requirement{
		{"CORE-SEND-001", func(t *testing.T, c client) {
			task := c.send(t, "tck-complete-task")
			c.wantState(t, task, "COMPLETED")
			if str(task, "artifacts", 0, "parts", 0, "text") != hello {
				t.Errorf("task %v", task)
			}
			r := c.call(t, "SendMessage", object{"message": message("tck-message-response")})
			if m := at(r.result, "message"); str(m, "parts", 0, "text") != "Direct message response" || str(m, "role") != "ROLE_AGENT" || str(m, "messageId") == "" {
				t.Errorf("message %s", r.body)
			}
			c.wantState(t, c.send(t, "tck-reject-task"), "REJECTED")
		}},
		{"CORE-SEND-002", func(t *testing.T, c client) {
			for _, prefix := range []string{"tck-complete-task", "tck-reject-task"} {
				task := c.send(t, prefix)
				r := c.call(t, "SendMessage", object{"message": message("tck-terminal", "taskId", str(task, "id"))})
				c.wantError(t, r, -32004, 400, "UNSUPPORTED_OPERATION")
			}
		}},
		{"CORE-SEND-003", func(t *testing.T, c client) { // see docs/conformance.md
			task := c.send(t, "tck-send-003", "parts", []any{object{"raw": "dGNr", "mediaType": "application/x-unsupported-tck-type"}})
			c.wantState(t, task, "COMPLETED")
		}},
		{"CORE-GET-001", func(t *testing.T, c client) {
			task := c.send(t, "tck-complete-task")
			r := c.call(t, "GetTask", object{"id": str(task, "id")})
			if str(r.result, "id") != str(task, "id") || at(r.result, "artifacts") == nil {
				t.Errorf("task %s", r.body)
			}
			c.wantState(t, r.result, "COMPLETED")
		}},
		{"CORE-CANCEL-001", func(t *testing.T, c client) {
			task := c.send(t, "tck-input-required")
			r := c.call(t, "CancelTask", object{"id": str(task, "id")})
			if str(r.result, "id") != str(task, "id") {
				t.Errorf("task %s", r.body)
			}
			c.wantState(t, r.result, "CANCELED")
		}},
		{"CORE-CANCEL-002", func(t *testing.T, c client) {
			task := c.send(t, "tck-complete-task")
			c.wantError(t, c.call(t, "CancelTask", object{"id": str(task, "id")}), -32002, 400, "TASK_NOT_CANCELABLE")
		}},
		{"CORE-EXECUTION-MODE-001", func(t *testing.T, c client) {
			c.url = start(t, options{hold: 200 * time.Millisecond})
			begin := time.Now()
			c.wantState(t, c.send(t, "test-resubscribe-message-id"), "COMPLETED")
			if took := time.Since(begin); took < 100*time.Millisecond {
				t.Errorf("returned after %v", took)
			}
			task := c.send(t, "tck-input-required")
			c.wantState(t, task, "INPUT_REQUIRED")
			c.wantState(t, c.send(t, "tck-complete-task", "taskId", str(task, "id")), "COMPLETED")
		}},
		{"CORE-EXECUTION-MODE-002", func(t *testing.T, c client) {
			r := c.call(t, "SendMessage", object{"message": message("test-resubscribe-message-id"), "configuration": object{"returnImmediately": true}})
			if state := short(str(r.result, "task", "status", "state")); state != "SUBMITTED" && state != "WORKING" {
				t.Errorf("state %s", state)
			}
			c.call(t, "CancelTask", object{"id": str(r.result, "task", "id")})
		}},
		{"CORE-MULTI-001", func(t *testing.T, c client) {
			if task := c.send(t, "tck-complete-task"); str(task, "contextId") == "" {
				t.Errorf("task %v", task)
			}
		}},
		{"CORE-MULTI-002", func(t *testing.T, c client) {
			if task := c.send(t, "tck-complete-task", "contextId", "tck-client-context-001"); str(task, "contextId") != "tck-client-context-001" {
				t.Errorf("task %v", task)
			}
		}},
		{"CORE-MULTI-003", func(t *testing.T, c client) {
			a, b := str(c.send(t, "tck-complete-task"), "id"), str(c.send(t, "tck-complete-task"), "id")
			if a == "" || a == b {
				t.Errorf("ids %q and %q", a, b)
			}
		}},
		{"CORE-MULTI-005", func(t *testing.T, c client) {
			task := c.send(t, "tck-input-required")
			next := c.send(t, "tck-infer-ctx", "taskId", str(task, "id"))
			if str(next, "contextId") != str(task, "contextId") || str(next, "id") != str(task, "id") {
				t.Errorf("task %v, then %v", task, next)
			}
		}},
	}
}

func streaming() []requirement {
	one := func(prefix, want string) func(*testing.T, client) {
		return func(t *testing.T, c client) {
			s := c.mustStream(t, "SendStreamingMessage", object{"message": message(prefix)})
			if got := show(s.rest()); got != want {
				t.Errorf("%s: got\n%s\nwant\n%s", prefix, got, want)
			}
		}
	}
	lifecycle := "task SUBMITTED\nstatus WORKING\nartifact " + hello + "<nil> append=false last=true\nstatus COMPLETED"
	chunked := "task SUBMITTED\nstatus WORKING\nartifact chunk-<nil> append=false last=false\nartifact 1 chunk-2<nil> append=true last=true\nstatus COMPLETED"
	return []requirement{
		{"CORE-STREAM-001", one("tck-stream-001", lifecycle)},
		{"CORE-STREAM-002", one("tck-message-response", "message Direct message response")},
		{"STREAM-ORDER-001", one("tck-stream-artifact-chunked", chunked)},
		{"DM-ART-001", func(t *testing.T, c client) {
			one("tck-stream-artifact-file", "task SUBMITTED\nstatus WORKING\nartifact <nil>R2VuZXJhdGVkIGZpbGUgY29udGVudA== append=false last=true\nstatus COMPLETED")(t, c)
			for prefix, want := range map[string]object{
				"tck-artifact-text":     {"text": "Generated text content"},
				"tck-artifact-file":     {"raw": "R2VuZXJhdGVkIGZpbGUgY29udGVudA==", "filename": "output.txt", "mediaType": "text/plain"},
				"tck-artifact-file-url": {"url": "https://example.com/output.txt", "filename": "output.txt", "mediaType": "text/plain"},
			} {
				a := at(c.send(t, prefix), "artifacts", 0)
				part := at(a, "parts", 0)
				for name, v := range want {
					if at(part, name) != v || str(a, "artifactId") == "" {
						t.Errorf("%s: %v", prefix, a)
					}
				}
			}
			if data := at(c.send(t, "tck-artifact-data"), "artifacts", 0, "parts", 0, "data"); str(data, "key") != "value" || at(data, "count") != 42.0 {
				t.Errorf("data %v", data)
			}
		}},
		{"STREAM-ORDER-002", broadcast},
		{"STREAM-ORDER-004", func(t *testing.T, c client) {
			task := str(c.send(t, "tck-input-required"), "id")
			first := c.mustStream(t, "SubscribeToTask", object{"id": task})
			second := c.mustStream(t, "SubscribeToTask", object{"id": task})
			first.next()
			_ = first.res.Body.Close()
			c.send(t, "tck-complete-task", "taskId", task)
			if got := show(second.rest()); !strings.HasSuffix(got, "status COMPLETED") {
				t.Errorf("the other stream has\n%s", got)
			}
		}},
		{"STREAM-SUB-001", func(t *testing.T, c client) {
			task := str(c.send(t, "tck-input-required"), "id")
			s := c.mustStream(t, "SubscribeToTask", object{"id": task})
			if e := s.next(); str(e, "task", "id") != task || short(str(e, "task", "status", "state")) != "INPUT_REQUIRED" {
				t.Errorf("first event %v", e)
			}
		}},
		{"STREAM-SUB-002", func(t *testing.T, c client) {
			task := str(c.send(t, "tck-input-required"), "id")
			s := c.mustStream(t, "SubscribeToTask", object{"id": task})
			c.send(t, "tck-complete-task", "taskId", task)
			want := "task INPUT_REQUIRED\nstatus WORKING\nartifact " + hello + "<nil> append=false last=true\nstatus COMPLETED"
			if got := show(s.rest()); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		}},
		{"STREAM-SUB-003", func(t *testing.T, c client) {
			task := c.send(t, "tck-complete-task")
			_, r := c.stream(t, "SubscribeToTask", object{"id": str(task, "id")})
			c.wantError(t, r, -32004, 400, "UNSUPPORTED_OPERATION")
		}},
	}
}

func broadcast(t *testing.T, c client) {
	task := str(c.send(t, "tck-input-required"), "id")
	var streams []*stream
	for range 3 {
		s := c.mustStream(t, "SubscribeToTask", object{"id": task})
		if e := s.next(); at(e, "task") == nil {
			t.Fatalf("first event %v", e)
		}
		streams = append(streams, s)
	}
	c.send(t, "tck-artifact-text", "taskId", task)
	want := "status WORKING\nartifact Generated text content<nil> append=false last=true\nstatus COMPLETED"
	for _, s := range streams {
		if got := show(s.rest()); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// asking is what 3.5 of the contract and the state machine ask of questions.
func asking() []requirement {
	return []requirement{{"INPUT-REQUIRED", func(t *testing.T, c client) {
		s := c.mustStream(t, "SendStreamingMessage", object{"message": message("tck-input-required")})
		events := s.rest() // ends with the question
		if got := show(events); got != "task SUBMITTED\nstatus WORKING\nstatus INPUT_REQUIRED" {
			t.Fatalf("got\n%s", got)
		}
		id := str(events[0], "task", "id")
		again := c.mustStream(t, "SendStreamingMessage", object{"message": message("tck-input-required", "taskId", id)})
		if got := show(again.rest()); got != "task WORKING\nstatus INPUT_REQUIRED" {
			t.Fatalf("follow-up:\n%s", got)
		}
		done := c.mustStream(t, "SendStreamingMessage", object{"message": message("tck-complete-task", "taskId", id)})
		if got := show(done.rest()); !strings.HasPrefix(got, "task WORKING\n") || !strings.HasSuffix(got, "status COMPLETED") {
			t.Fatalf("last follow-up:\n%s", got)
		}
	}}}
}
